"""The marks by which keys are known: what providers put at their beginning, and the names of fields that hold one."""

from __future__ import annotations

from typing import Final

# What a key begins with, and the whole of it from there. Each is bounded: a text of nothing but marks costs no more.
SHAPES: Final = {
    "AKIA": "AKIA[A-Z0-9]{16}",
    "ASIA": "ASIA[A-Z0-9]{16}",
    "AIza": r"AIza[\w-]{35}",
    "AGE-SECRET-KEY-1": "AGE-SECRET-KEY-1[A-Z0-9]{58}",
    "ATATT3": r"ATATT3[\w=-]{60,300}",
    "GOCSPX-": r"GOCSPX-[\w-]{28}",
    "SG.": r"SG\.[\w-]{16,32}\.[\w-]{16,64}",
    "PMAK-": "PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    "dckr_pat_": r"dckr_pat_[\w-]{20,60}",
    "doo_v1_": "doo_v1_[0-9a-f]{64}",
    "dop_v1_": "dop_v1_[0-9a-f]{64}",
    "dor_v1_": "dor_v1_[0-9a-f]{64}",
    "eyJ": r"eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{10,2000}",
    "figd_": r"figd_[\w-]{30,60}",
    "ghp_": "ghp_[A-Za-z0-9]{36,255}",
    "gho_": "gho_[A-Za-z0-9]{36,255}",
    "ghr_": "ghr_[A-Za-z0-9]{36,255}",
    "ghs_": "ghs_[A-Za-z0-9]{36,255}",
    "ghu_": "ghu_[A-Za-z0-9]{36,255}",
    "github_pat_": r"github_pat_\w{40,255}",
    "glpat-": r"glpat-[\w.-]{20,300}",
    "gsk_": "gsk_[A-Za-z0-9]{40,80}",
    "hf_": "hf_[A-Za-z]{30,40}",
    "hooks.slack.com/": r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,120}",
    "hvs.": r"hvs\.[\w-]{20,120}",
    "lin_api_": "lin_api_[A-Za-z0-9]{40}",
    "npm_": "npm_[A-Za-z0-9]{36}",
    "ntn_": "ntn_[A-Za-z0-9]{40,60}",
    "nvapi-": r"nvapi-[\w-]{50,80}",
    "pplx-": "pplx-[A-Za-z0-9]{40,64}",
    "pypi-": r"pypi-AgE[\w-]{50,400}",
    "r8_": "r8_[A-Za-z0-9]{37}",
    "rk_live_": "rk_live_[A-Za-z0-9]{20,120}",
    "rk_test_": "rk_test_[A-Za-z0-9]{20,120}",
    "sbp_": "sbp_[0-9a-f]{40}",
    "shpat_": "shpat_[0-9a-fA-F]{32}",
    "shpss_": "shpss_[0-9a-fA-F]{32}",
    "sk-": r"sk-[\w-]{20,400}",
    "sk_live_": "sk_live_[A-Za-z0-9]{20,120}",
    "sk_test_": "sk_test_[A-Za-z0-9]{20,120}",
    "tskey-": r"tskey-[\w-]{20,80}",
    "whsec_": "whsec_[A-Za-z0-9+/=]{24,80}",
    "xai-": "xai-[A-Za-z0-9]{60,120}",
    "xapp-": r"xapp-[\w-]{40,160}",
    "xoxa-": r"xoxa-[\w-]{20,160}",
    "xoxb-": r"xoxb-[\w-]{20,160}",
    "xoxe": r"xoxe[.-][\w.-]{20,300}",
    "xoxp-": r"xoxp-[\w-]{20,160}",
    "xoxr-": r"xoxr-[\w-]{20,160}",
    "xoxs-": r"xoxs-[\w-]{20,160}",
    "ya29.": r"ya29\.[\w-]{30,400}",
}
NAME_ENDS: Final = (
    *("key", "Key", "KEY", "oken", "OKEN", "ecret", "ECRET", "earer", "EARER", "uthorization", "yckel", "ycklen"),
    *("økkel", "Økkel", "chlüssel", "CHLÜSSEL", "nøgle", "nøglen", "leutel", "klucz"),
    *("ключ", "Ключ", "токен", "Токен", "密钥", "密鑰", "令牌", "キー", "トークン", "토큰"),
)
"""How the names end under which a key without a mark may stand: api_key, accessToken, client_secret."""
TELEGRAM: Final = ":AA"
"""What stands in the middle of a bot's token."""
