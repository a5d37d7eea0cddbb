"""The identity of a name: its normal form with the signs that carry meaning. `C` and `C#` have one normal form, and are two things."""

from __future__ import annotations

import html
import re

from kgeval.text.clean import normal_form
from kgeval.text.names import ARTICLES, normalise
from kgeval.text.wordlists import word_set

# What stands for a sign until the name is normalised: symbols and letters that this leaves as they are.
_OTHER_ARTICLES = ARTICLES - {"the", "a", "an"}
_STANDS_FOR = {"♯": "#", "∗": "*", "ǃ": "!", "−": "-", "ʹ": "'", "∙": ".", "⁒": "%", "⎵": "_", "⊚": "@", "∕": "/", "ʔ": "?"}
_BACK = str.maketrans(_STANDS_FOR)
# One look tells most names to have none of it: signs, a digit beside what is no plain word, a name of two letters, an entity of HTML
_MAYBE = re.compile(
    "[#♯*™®©℠†‡_^·.!@\\-\u2010-\u2015\u2212\u00b2\u00b3\u00b9\u2070-\u207f\u2032]|'$|^[/%]|\\?$|"
    r"\d[\s,%‰]|\([RrTtCc]|&\w+;|^..?$|[A-Za-z]\([a-zα-ω]\)$|\[\d|^[mM][A-Z]"
)
_RAISED = re.compile(
    "(?<=[A-Za-ln-zα-ω])(?<![^\\W\\d_]{2})(?=[\u00b2\u00b3\u00b9\u2070-\u207f])|(?<=[\\d\u2080-\u2089])(?=[\u00b2\u00b3\u00b9\u2070-\u207f])"
)
_TRADE = re.compile(r"[™®©℠†‡]|(?<=\w)\((?:R|TM)\)|\[\d{1,3}\]$")
# symbols of elements that are no words or names, which two capitals make compounds or abbreviations of: Co / CO, Hf / HF, Si / SI
_ELEMENTS = word_set(
    "Ne Na Mg Si Cl Ar Ca Sc Ti Cr Mn Fe Co Ni Cu Zn Ga Ge Se Br Kr Rb Sr Zr Nb Tc Ru Rh Pd Ag Cd Sn Sb Te Xe Cs Ba Ce Pr Nd "
    "Pm Sm Eu Gd Tb Dy Er Tm Yb Lu Hf Ta Os Ir Pt Au Hg Tl Pb Bi Po Rn Fr Ac Th Np Pu Cm Bk Cf Fm Md Lr"
)
_SYMBOL = re.compile(r"[Α-Ωα-ω]|[A-Za-zΑ-ω]\([a-zα-ω]\)")  # σ / Σ, O(n) / o(n)
_DATE = re.compile(r"(?<![\d.])(\d{4}|\d{1,2}(?=[./-]\d{1,2}[./-]\d{4}))[./-](\d{1,2})[./-](\d{1,4})(?![\d.])")
# in texts as in names
_SIGN_RULES = tuple((re.compile(pattern), into) for pattern, into in (
    (r"(?<=\w)[#♯](?![^\W_])|(?<=\b[A-Ga-g])[#♯](?=[a-z])", "♯"),  # C#, F#m; an "issue #5" has none
    (r"(?<![\w*])([^\W\d_]{1,2})\*(?![\w*])", r"\1∗"),  # A*, C*-algebra; behind longer words it is a footnote's, around them emphasis
    (r"(?:^|(?<=[\s(/]))\.(?=[^\W\d_])", "∙"),  # .NET
    (r"(?<=\d)\s*%", "⁒"),
))
_FIRST_WORD = re.compile(r"[^\W\d_]{2,3}(?=[\W_])")
_DASHES = re.compile("[\u2010-\u2015\u2212]")
_NEGATIVE = re.compile("(?<=[\\w-])[-\u2010\u2011\u2212](?=$|[\\s/),;-])")
_CODE_BEFORE = re.compile(r"[^\W\d_]\S*\d|\d\S*[^\W\d_]|^(?:[A-Z]{1,3}|Rh|Cl|OH|Br)$")  # HER2-, CD4- cells, ER-, Rh-, A-
_NAME_RULES = tuple((re.compile(pattern), into) for pattern, into in (
    (r"(?<=[^\W\d_])\^(?=\d?[+-]$)", ""),  # Ca^2+ is Ca2+
    (r"^([^\W_]{1,2})['\u2032]$", r"\1ʹ"), (r"^([^\W_]{1,2})['\u2032]{2}$", r"\1ʹʹ"),  # f'
    (r"^\*(?=[^\W_][^*]*$)", "∗"),  # *Lisp
    (r"^#(?=\w+$)", "♯"), (r"^@(?=\w+$)", "⊚"), (r"^--(?=\w)", "−−"), (r"^/(?=\w)", "∕"), (r"^%(?=\w+$)", "⁒"),  # @property, --help
    (r"^([a-z][a-z_]*)\?$", r"\1ʔ"), (r"^([a-z][a-z_]*_[a-z_]*)!$", r"\1ǃ"),  # empty?
    (r"^([^\W_]{1,3})!$", r"\1ǃ"),  # Go!; longer names are told with and without it
    (r"(?:^|(?<=[(\[])|(?<=[^\d\s]\s))-(?=\d)", "−"),  # -5
    (r"(?<=\d)[.,·](?=\d)", "∙"),  # 3.5
    (r"((?<=\d)\s?|^)M(?=(?:Wh?|VA?|A|Hz|Pa|J|Bq|Sv|eV)\b)", r"\1mega"),  # 5 MW / 5 mW
    (r"(?<=\d)(\s?[kKMGT])b\b", r"\1bit"),  # 10 Mb / 10 MB
    (r"(?<![^\W_])__(?=[^\W_])", "⎵⎵"),  # __init__
    (r"^_(?=[^\W_][\w.]*$)(?!.*_$)", "⎵"),  # _private
))
_THOUSANDS = re.compile("(?<![\\d.,])\\d{1,3}(?:[,\u00a0\u202f\u2009'’ ]\\d{3}){1,6}(?![\\d.,]*\\d)")
_NO_DIGITS = re.compile(r"\D")


def identity_key(name: str) -> str:
    """What two names of one thing have in common at the least: the normal form (kgeval.text.names.normalise), and the signs that carry
    meaning as they are.

    Kept: `#`, `+`, `*` and `!` behind a short word, a `-` that ends a code or begins a number, a `.` that begins a word, the point of a
    number (3,5 is 3.5, 1,000 is 1000), `%`, milli and mega, bit and byte, underscores that begin an identifier; the symbol of an element,
    a Greek letter and O(n) in their own case. Left out: ® and ™, entities of HTML, marks of footnotes. "" for a name of which nothing is
    left.
    """
    if _MAYBE.search(name) is None:
        return _with_article(name, normalise(name))
    plain = _TRADE.sub("", html.unescape(name) if "&" in name else name)
    plain = normal_form(_RAISED.sub("^", plain), "NFKC").strip()  # x² is x^2 and not x₂; m² is m2
    if plain in _ELEMENTS or _SYMBOL.fullmatch(plain):
        return plain
    marked = mark_signs(_DATE.sub(r"\1 \2 \3", _DASHES.sub("-", plain)))
    marked = _THOUSANDS.sub(lambda found: _NO_DIGITS.sub("", found[0]), marked)
    for pattern, into in _NAME_RULES:
        marked = pattern.sub(into, marked)
    return _with_article(plain, normalise(marked).translate(_BACK) or normalise(name))


def _with_article(name: str, key: str) -> str:
    """The key, with an article of another language than English that normalising leaves out: Los Angeles is not Angeles."""
    found = _FIRST_WORD.match(name)
    first = found[0].casefold() if found else ""
    return f"{first} {key}" if first in _OTHER_ARTICLES and key and not key.startswith(first) else key


def mark_signs(text: str) -> str:
    """The text, with symbols and letters that normalising leaves in the place of the signs that carry meaning: C♯ for C#, ∙NET for .NET."""
    for pattern, into in _SIGN_RULES:
        text = pattern.sub(into, text)
    return _NEGATIVE.sub(_negative, text)


def _negative(found: re.Match[str]) -> str:
    """A minus behind a code, that ends it; else the dash as it is."""
    before = found.string[max(0, found.start() - 20) : found.start()]
    word = before[max(before.rfind(gap) for gap in (" ", "/", "(", ",", "\n", "\t")) + 1 :]
    code = _CODE_BEFORE.search(word.rstrip("-−")) is not None
    ends = not found.string[found.end() :].strip("-")  # A-, C--
    return "−" if code and (any(c.isdigit() for c in word) or ends) else found[0]
