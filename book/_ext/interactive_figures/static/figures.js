// Makes the figures of a page live, each when the reader comes near it: its still picture gives
// way to one that follows the controls. What changes is also said in words, for screen readers.
(() => {
  const embed = new URL("vega-embed.js", document.currentScript.src);
  const load = (src) =>
    new Promise((onload, onerror) =>
      document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror })),
    );
  let library;

  const enliven = async (figure) => {
    const [bind, still, words, content] = figure.children;
    await Promise.all([(library ??= load(embed)), load(content.dataset.src)]); // fills the content
    const live = document.createElement("div");
    const { $schema, ...spec } = JSON.parse(content.textContent);
    const options = { mode: "vega-lite", renderer: "svg", actions: false, bind };
    const { view } = await vegaEmbed(live, spec, options);
    still.replaceWith(live);
    const say = async () => {
      await view.runAsync();
      const marks = [...live.querySelectorAll("[class*=readout] > *")];
      words.textContent = marks.map((mark) => mark.getAttribute("aria-label")).join(", ");
    };
    bind.addEventListener("input", say);
    bind.addEventListener("change", say); // a menu tells Vega only after its input event
  };

  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) {
          near.unobserve(target);
          enliven(target);
        }
      }
    },
    { rootMargin: "200px" },
  );
  addEventListener("load", () => document.querySelectorAll(".interactive").forEach((f) => near.observe(f)));
})();
