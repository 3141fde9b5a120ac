// The theme decides when a page is loaded or resized which scrolling boxes the Tab key reaches.
// Code that a reader unfolds later has to be among them, and so do formulas.
addEventListener("click", ({ target }) => {
  if (target.closest("summary, .toggle")) dispatchEvent(new Event("resize"));
});
for (const moment of ["load", "resize"]) {
  addEventListener(moment, () => {
    for (const formula of document.querySelectorAll('mjx-container[display="true"]')) {
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
      else formula.removeAttribute("tabindex");
    }
  });
}
