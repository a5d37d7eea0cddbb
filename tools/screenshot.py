"""Takes a picture of an HTML report with Chromium: python tools/screenshot.py report.html report.png --width 1280 --height 860

For a person who looks at a report's design or makes the README's picture; no test needs it. Narrow pages stand in a frame
of the wanted width, because Chromium's own window is never narrower than about 500 pixels.
"""

from __future__ import annotations

import argparse
import html
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--virtual-time-budget=3000",
)


def main() -> None:
    """Reads the options, takes the picture, says where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=860)
    parser.add_argument("--dark", action="store_true", help="as a reader who prefers dark pages sees it")
    parser.add_argument("--at", default="", help="anchor to scroll to, such as findings")
    parser.add_argument("--colours", type=int, default=0, help="reduce the picture to so many colours (a smaller file)")
    options = parser.parse_args()
    browser = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit("Chromium is not installed; on Debian: apt-get install chromium")
    take(browser, options)
    shrink(options.picture, options.width, options.colours)
    print(options.picture)


def take(browser: str, options: argparse.Namespace) -> None:
    """Runs the browser on a page that frames the report in the wanted size."""
    address = options.page.resolve().as_uri() + (f"#{options.at}" if options.at else "")
    frame = (
        "<!doctype html><meta name='color-scheme' content='light dark'><style>body{margin:0}iframe{border:0;display:block}</style>"
        f"<iframe src='{html.escape(address)}' width='{options.width}' height='{options.height}'></iframe>"
    )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        around = Path(folder, "frame.html")
        around.write_text(frame, encoding="utf-8")
        size = f"--window-size={max(options.width, 500)},{options.height}"
        dark = ["--blink-settings=preferredColorScheme=0"] if options.dark else []
        command = [
            browser, *QUIET, *dark, size, f"--user-data-dir={folder}/profile", f"--screenshot={options.picture.resolve()}", around.as_uri(),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def shrink(picture: Path, width: int, colours: int) -> None:
    """Cuts the picture to the frame's width and, if asked, reduces its colours."""
    from PIL import Image

    with Image.open(picture) as taken:
        cut = taken.convert("RGB").crop((0, 0, width, taken.height))
    (cut.quantize(colours) if colours else cut).save(picture, optimize=True)


if __name__ == "__main__":
    main()
