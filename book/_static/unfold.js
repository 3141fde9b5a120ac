// The theme decides when a page is loaded or resized which scrolling boxes the Tab key reaches.
// Code that a reader unfolds later has to be among them.
addEventListener("click", ({ target }) => {
  if (target.closest("summary, .toggle")) dispatchEvent(new Event("resize"));
});
