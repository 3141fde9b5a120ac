// Puts all pages of the site into the one that is open: sources are their [name, HTML] in reading
// order, names are relative to the site's address.
([site, sources, style, licences]) => {
  const parser = new DOMParser();
  const pages = new Map(sources.map(([name, html]) => [name, parser.parseFromString(html, "text/html")]));
  const here = (name, href) => new URL(href, site + name);
  const make = (tag, className, ...content) => {
    const element = Object.assign(document.createElement(tag), { className });
    element.append(...content);
    return element;
  };

  const chapters = [];
  const styles = new Set();
  const heads = [];
  for (const [name, page] of pages) {
    for (const link of page.querySelectorAll("link[rel=stylesheet]"))
      styles.add(here(name, link.getAttribute("href")).href);
    const article = page.querySelector("article.bd-article");
    for (const tag of article.querySelectorAll("script, .headerlink, .controls, .says, summary")) tag.remove();
    for (const tag of article.querySelectorAll("details")) tag.replaceWith(...tag.childNodes);
    for (const tag of article.querySelectorAll("img")) {
      tag.src = here(name, tag.getAttribute("src"));
      tag.loading = "eager";
    }
    for (const tag of article.querySelectorAll("pre"))
      if (tag.textContent.split("\n").length < 16) tag.classList.add("short");

    // ids are given once a page: here each gets the page's name
    for (const tag of article.querySelectorAll("[id]:not(svg *)")) tag.id = `${name}--${tag.id}`;
    for (const link of article.querySelectorAll("a[href]")) {
      const to = here(name, link.getAttribute("href"));
      if (!to.href.startsWith(site)) continue;
      const target = decodeURI(to.pathname).slice(new URL(site).pathname.length);
      const fragment = decodeURIComponent(to.hash.slice(1));
      if (pages.has(target)) link.setAttribute("href", `#${target}${fragment && `--${fragment}`}`);
      else link.replaceWith(...link.childNodes); // a file: nothing that the document holds
    }

    const chapter = make("div", "chapter", ...article.childNodes);
    chapter.id = name;
    chapter.style.page = `page-${chapters.length}`;
    const title = chapter.querySelector("h1").textContent.trim();
    heads.push(`@page page-${chapters.length} { @top-right { content: ${JSON.stringify(title)} } }`);
    chapters.push(chapter);
  }

  const [front] = pages.values();
  const contents = make("ul", "");
  for (const tag of front.querySelectorAll("nav.bd-links :is(p.caption, li.toctree-l1 > a)")) {
    const text = tag.textContent.trim();
    if (tag.matches("p")) {
      contents.append(make("li", "part", text));
      continue;
    }
    const link = make("a", "", text);
    const name = tag.getAttribute("href") === "#" ? sources[0][0] : 0;
    link.href = "#" + (name || here(sources[0][0], tag.getAttribute("href")).href.slice(site.length));
    contents.append(make("li", "", link, make("span", "number")));
  }
  const logo = make("img", "");
  logo.src = here(sources[0][0], front.querySelector(".logo__image").getAttribute("src"));
  logo.alt = "";
  const author = front.querySelector(".component-author").textContent.trim();
  const cover = make("div", "cover", logo, make("p", "title", chapters[0].querySelector("h1").textContent.trim()));
  cover.append(make("p", "", author), make("p", "", licences));

  document.documentElement.className = "on-paper";
  document.documentElement.dataset.theme = document.documentElement.dataset.mode = "light";
  document.head.replaceChildren(
    make("title", "", cover.querySelector(".title").textContent),
    ...[...styles].map((href) => Object.assign(make("link", ""), { rel: "stylesheet", href })),
    make("style", "", style, ...heads),
  );
  const list = make("nav", "list-of-pages", make("p", "title", "Contents"), contents);
  document.body.replaceChildren(make("article", "bd-article", cover, list, ...chapters));
}
