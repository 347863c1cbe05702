#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documents as a site, with search: a page for each document and, where gi-docgen is installed, the library's reference.

    meson devenv -C build ../docs/site.py FOLDER       needs python3-markdown, python3-gi

The page of an element ends with what the element says of itself: pads, properties, signals.
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

try:
    import gi
    import markdown

    gi.require_version("Gst", "1.0")
    from gi.repository import GObject, Gst
except (ImportError, ValueError) as error:
    print(f"skipped: {error}")
    sys.exit(77)

TOP = pathlib.Path(__file__).resolve().parents[1]
LIBRARY = "library/index.html"
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{style}</style></head><body>
<nav><a href="{root}README.html">gst-ccl</a> <a href="{root}docs/README.html">Documents</a>{library}
<input id="search" type="search" placeholder="Search" autocomplete="off" data-root="{root}"><ul id="found"></ul></nav>
<main>{body}</main><script src="{root}search.js"></script></body></html>
"""
STYLE = """body{max-width:60em;margin:1em auto;padding:0 1em;font:16px/1.5 sans-serif}img{max-width:100%}
pre{background:#f4f4f4;padding:.6em;overflow:auto}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .5em;
text-align:left;vertical-align:top}nav a{margin-right:1em}"""
SEARCH = """const input = document.getElementById("search"), found = document.getElementById("found");
input.addEventListener("input", () => {
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
  found.replaceChildren();
  if (!words.length) return;
  for (const page of pages.filter(p => words.every(w => p.text.includes(w))).slice(0, 20)) {
    const link = document.createElement("a"), item = document.createElement("li");
    link.href = input.dataset.root + page.path;
    link.textContent = page.title;
    item.append(link);
    found.append(item);
  }
});
"""
FLAGS = [(Gst.PARAM_CONTROLLABLE, "controllable"), (Gst.PARAM_MUTABLE_PLAYING, "changeable while playing")]


def documents():
    return [TOP / "README.md", TOP / "CONTRIBUTING.md", TOP / "examples/launch.md", *sorted((TOP / "docs").glob("**/*.md"))]


def table(header, rows):
    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + row(header, "th") + "".join(row(cells, "td") for cells in rows) + "</table>"


def nick(value):
    return value.value_nick if hasattr(value, "value_nick") else value.first_value_nick


def values_of(element, spec):
    """The type of a property, with its range or its values."""
    if hasattr(spec, "minimum"):
        least, most = (f"{end:g}" if isinstance(end, float) else str(end) for end in (spec.minimum, spec.maximum))
        return f"{spec.value_type.name}, {least} to {most}"
    if spec.value_type.is_a(GObject.TYPE_ENUM) or spec.value_type.is_a(GObject.TYPE_FLAGS):
        # Newer versions of PyGObject have Python's own enums.
        values = type(element.get_property(spec.name))
        table_of = getattr(values, "__enum_values__", None) or getattr(values, "__flags_values__", None)
        found = [value for _, value in sorted(table_of.items())] if table_of else list(values)
        return (" or " if spec.value_type.is_a(GObject.TYPE_ENUM) else " + ").join(map(nick, found))
    return spec.value_type.name


def default_of(element, spec):
    """What a new element has."""
    if not spec.flags & GObject.ParamFlags.READABLE or spec.value_type.is_a(GObject.TYPE_BOXED):
        return ""
    value = element.get_property(spec.name)
    if hasattr(value, "value_nick"):
        return value.value_nick
    if hasattr(value, "value_nicks"):
        return "+".join(value.value_nicks)
    if isinstance(value, (bool, float)):
        return f"{value:g}" if isinstance(value, float) else str(value).lower()
    return "" if value is None else str(value)


def own(type_, of):
    """What the types of this project add; GStreamer's own is in its manual."""
    while type_.name not in ("GstElement", "GstBaseTransform", "GstBaseSink", "GstVideoFilter", "GstCudaBaseTransform"):
        yield from of(type_)
        type_ = type_.parent


def reference(name):
    """The last part of an element's page; nothing where this build has no such element."""
    factory = Gst.ElementFactory.find(name)
    element = factory and factory.create(None)
    if not element:
        return f"<h2>Reference</h2><p>This build has no {name}.</p>"
    specs = [spec for spec in element.list_properties() if spec.owner_type.name.startswith("GstCcl")
             or spec.owner_type.name == type(element).__gtype__.name]
    properties = [(f"<code>{spec.name}</code>", html.escape(values_of(element, spec)), html.escape(default_of(element, spec)),
                   html.escape(spec.blurb) + "".join(f"; {word}" for flag, word in FLAGS if spec.flags & flag)
                   + ("" if spec.flags & GObject.ParamFlags.WRITABLE else "; read-only"))
                  for spec in sorted(specs, key=lambda spec: spec.name)]
    signals = sorted({signal for signal in own(type(element).__gtype__, GObject.signal_list_names)})
    pads = [(template.name_template, template.direction.value_nick,
             f"<pre>{html.escape(template.get_caps().to_string().replace('; ', ';' + chr(10)))}</pre>")
            for template in factory.get_static_pad_templates() for template in [template.get()]]
    return ("<h2>Reference</h2><h3>Pads</h3>" + table(("pad", "direction", "caps"), pads)
            + "<h3>Properties</h3>" + table(("property", "type", "default", "effect"), properties)
            + (f"<h3>Signals</h3><p>{', '.join(signals)}</p>" if signals else ""))


def linked(body, source, pages, folder):
    """Links to documents lead to their pages, pictures are copied, and what is not on the site is text."""
    def link(found):
        attribute, target, anchor = found[1], found[2], found[3] or ""
        if re.match(r"[a-z]+:", target) or not target:
            return found[0]
        path = pathlib.Path(os.path.normpath(source.parent / target))
        if path in pages:
            return f'{attribute}="{os.path.splitext(target)[0]}.html{anchor}"'
        if path.suffix in (".png", ".svg", ".json") and path.exists():
            to = folder / path.relative_to(TOP)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
            return found[0]
        return ""

    return re.sub(r'(href|src)="([^"#]*)(#[^"]*)?"', link, body)


def write_library(folder):
    """gi-docgen's pages of libgstccl; False where it or the .gir is missing."""
    gir = next((pathlib.Path(place) / "GstCcl-1.0.gir" for place in os.environ.get("GI_TYPELIB_PATH", "").split(":")
                if (pathlib.Path(place) / "GstCcl-1.0.gir").exists()), None)
    if not shutil.which("gi-docgen") or not gir:
        print("site.py: without the library's reference, which needs gi-docgen and introspection")
        return False
    subprocess.run(["gi-docgen", "generate", "--quiet", "--no-namespace-dir", "--config", TOP / "docs/library.toml",
                    "--output-dir", folder / "library", gir], check=True)
    return True


def main():
    Gst.init(None)
    folder = pathlib.Path(sys.argv[1])
    has_library = write_library(folder)
    pages, index = documents(), []
    for source in pages:
        path = source.relative_to(TOP).with_suffix(".html")
        text = source.read_text("utf-8")
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"])
        if source.parent.name == "elements":
            body += reference(source.stem)
        title = re.search(r"^# (.*)$", text, re.MULTILINE)[1]
        root = "../" * (len(path.parts) - 1)
        library = f' <a href="{root}{LIBRARY}">Library</a>' if has_library else ""
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(PAGE.format(title=html.escape(title), style=STYLE, root=root, library=library,
                                               body=linked(body, source, pages, folder)), "utf-8")
        words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).lower().split())
        index.append({"path": str(path), "title": title, "text": words})
    (folder / "search.js").write_text(f"const pages = {json.dumps(index, sort_keys=True)};\n{SEARCH}", "utf-8")
    shutil.copyfile(folder / "README.html", folder / "index.html")
    print(f"site.py: {len(pages)} pages in {folder}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
