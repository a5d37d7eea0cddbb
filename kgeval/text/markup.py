"""Texts without the markup that stands between the letters of a word: LaTeX, tags and entities of HTML. Pure."""

from __future__ import annotations

import html
import re

from kgeval.text.wordlists import word_set

_MARKED = re.compile(r"[\\<&^]")
_MATH = re.compile(r"\$\$?([^$]{1,300}?)\$\$?")
_IN_MATH = re.compile(r"[\\^_{]")
_COMMAND = re.compile(r"\\([a-zA-Z]{2,20})\*?")
_SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ",
    "mu": "μ", "nu": "ν", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Sigma": "Σ", "Phi": "Φ", "Omega": "Ω", "times": "×", "circ": "°", "degree": "°", "pm": "±",
    "leq": "≤", "geq": "≥", "le": "≤", "ge": "≥", "infty": "∞", "rightarrow": "→", "to": "→",
}
# commands that say how something is set; of others (C:\\Users) the word stays
_SETTING = word_set(
    "mathrm mathbf mathit mathcal mathbb mathsf text textbf textit textrm textsc textsf emph frac sqrt begin end left right quad qquad rm "
    "bf it sf operatorname boldsymbol bm overline underline hat bar tilde vec dot cdot displaystyle"
)
_DEGREE = re.compile(r"\^\s*\{\s*(?:\\(?:mathrm|circ|rm|text)\s*\{?\s*)?[oO∘]?\s*\}{1,2}(?=\s*\\?[a-zA-Z]*\s*\{?\s*[CFK]\b)")
_RAISED = re.compile(r"[\^_]\s*(?=[{\d+\-°∘])")
_TAG = re.compile(
    r"</?(?:a|b|i|u|s|em|strong|span|br|sub|sup|font|small|big|code|pre|p|q|ruby|rb|rt|rp|mark|wbr|td|tr|th|li|div)(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)


def without_markup(text: str) -> str:
    """The text as it is read: `$150\\mathrm{mm}$` is 150{mm}, `H<sub>2</sub>O` H2O, `&eacute;` é. Braces stay: they are punctuation."""
    if _MARKED.search(text) is None:
        return text
    text = _TAG.sub("", html.unescape(text)) if "<" in text or "&" in text else text
    if "\\" in text or "^" in text:
        text = _DEGREE.sub("°", text)
        text = _MATH.sub(lambda found: found[1] if _IN_MATH.search(found[1]) else found[0], text)
        text = _RAISED.sub("", _COMMAND.sub(lambda found: _said(found[1]), text))
    return text


def _said(command: str) -> str:
    return _SYMBOLS.get(command) or ("" if command in _SETTING else command)
