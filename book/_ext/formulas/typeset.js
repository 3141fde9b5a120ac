// Sets formulas without a browser. In: {"mathjax": folder, "formulas": [[TeX, whether it stands
// alone], ...]}. Out: {"set": [HTML, ...], "style": CSS}; a formula with a fault gives {"fault"}.
const { mathjax, formulas } = JSON.parse(require("fs").readFileSync(0, "utf8"));

require(`${mathjax}/node-main.js`)
  .init({
    loader: {
      load: ["input/tex", "output/chtml", "adaptors/liteDOM", "a11y/assistive-mml"],
      paths: { mathjax },
      require,
      versionWarnings: false,
    },
    startup: { typeset: false },
    chtml: { fontURL: "mathjax", matchFontHeight: false },
  })
  .then(async (MathJax) => {
    const adaptor = MathJax.startup.adaptor;
    const set = [];
    for (const [tex, display] of formulas) {
      const html = adaptor.outerHTML(await MathJax.tex2chtmlPromise(tex, { display }));
      const fault = html.match(/data-mjx-error="([^"]*)"/);
      set.push(fault ? { fault: fault[1] } : html);
    }
    const style = adaptor.textContent(MathJax.chtmlStylesheet());
    process.stdout.write(JSON.stringify({ set, style }));
  })
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
