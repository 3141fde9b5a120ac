# A thin front for tools/make.py: finds a Python that is new enough and hands the command over.
.PHONY: help book test lab serve notebooks pdf zip classroom model bench weight lock clean

help book test lab serve notebooks pdf zip classroom model bench weight lock clean:
	@for python in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec "$$python" tools/make.py $@; \
	  fi; \
	done; \
	echo "make $@ needs Python 3.11 or newer, and found none on the PATH." >&2; \
	echo "python3 is: $$(python3 --version 2>&1 || true)" >&2; \
	echo "Install one from https://www.python.org, or name it: make $@ PYTHON=/path/to/python" >&2; \
	exit 1
