"""`python -m shadowprobe`: the command line."""

from __future__ import annotations

from shadowprobe.cli import main

if __name__ == "__main__":
    main()
