"""What WhatsApp writes in a message's place, in many languages: a file left out, a message deleted or edited."""

from __future__ import annotations

import re
from typing import Any, Final

from memory_rag.turns import Block, Span

_MARK: Final = "\u200e"
_LONGEST_NOTE: Final = 80
_NAMED: Final = re.compile(rf"{_MARK}?([^\s<>/\\:][^<>/\\:\n]*\.\w{{2,5}}) \([^()\n]{{3,40}}\)(?=\n|\Z)")
_ATTACHED: Final = re.compile(rf"{_MARK}?<[^:<>\n]{{3,30}}: ?([^<>\n]+\.\w{{2,5}})>")
_EDITED: Final = re.compile(
    rf"[ ]?{_MARK}?<(?:This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje\.?|"
    r"Ce message a été modifié|Questo messaggio è stato modificato|Mensagem editada|Esta mensagem foi editada|"
    r"Dit bericht is bewerkt|Det här meddelandet har redigerats|Meddelandet redigerades|"
    r"Denne meldingen ble redigert|Denne besked blev redigeret|Tätä viestiä muokattiin|Данное сообщение изменено)>\Z"
)
# On iOS a file that was left out; on Android it stands in angle brackets.
_LEFT_OUT: Final = re.compile(
    r"<(?:Media omitted|Medien ausgeschlossen|Medien weggelassen|Multimedia omitido|Médias omis|"
    r"Fichier multimédia omis|Media omessi|Media weggelaten|Mídia oculta|Arquivo de mídia oculto|"
    r"Ficheiro não revelado|Mediet har utelämnats|"
    r"Media utelämnat|Media har utelämnats|Mediefil utelatt|Medier utelatt|Media utelatt|Mediefil udeladt|"
    r"Medier udeladt|Media jätettiin pois|Media jätetty pois|pominięto multimedia|Без медиафайлов|"
    r"Medya dahil edilmedi|メディアは含まれていません|省略多媒體檔案|已忽略多媒体文件|미디어 파일을 생략한 채로 저장)>"
    r"|(?:image|video|audio|GIF|sticker|document|Contact card|video note) omitted"
    r"|(?:Bild|Video|Audio|GIF|Sticker|Dokument|Kontaktkarte) weggelassen"
    r"|(?:imagen|audio|video|Video|GIF|sticker|documento|Tarjeta de contacto) omitid[oa]"
    r"|(?:image absente|vidéo absente|audio omis|document manquant|sticker omis|GIF retiré)"
    r"|(?:bild|video|ljud|GIF|klistermärke|dokument) utelämna(?:t|d|des)"
    r"|(?:bilde|video|lyd|GIF|klistremerke|dokument) utelatt"
    r"|(?:immagine omessa|video omesso|audio omesso|sticker non incluso|documento omesso)"
    r"|(?:imagem ocultada|vídeo ocultado|áudio ocultado|figurinha omitida|documento ocultado)"
    r"|(?:afbeelding|video|audio|GIF|sticker|document) weggelaten"
)
_DELETED: Final = re.compile(
    r"(?:This message was deleted|You deleted this message|Diese Nachricht wurde gelöscht|"
    r"Du hast diese Nachricht gelöscht|Se eliminó este mensaje|Eliminaste este mensaje|Ce message a été supprimé|"
    r"Vous avez supprimé ce message|Questo messaggio è stato eliminato|Hai eliminato questo messaggio|"
    r"Mensagem apagada|Essa mensagem foi apagada|Dit bericht is verwijderd|U hebt dit bericht verwijderd|"
    r"Det här meddelandet har raderats|Du raderade det här meddelandet|Meddelandet raderades|"
    r"Denne meldingen ble slettet|Du slettet denne meldingen|Denne besked blev slettet|Du slettede denne besked|"
    r"Tämä viesti poistettiin|Poistit tämän viestin|Данное сообщение удалено|Вы удалили данное сообщение)\.?"
)


def is_placeholder(text: str) -> bool:
    """Whether a message says nothing but that a file was left out or that it was deleted, or is a notice.

    On iOS a notice ("Messages and calls are end-to-end encrypted") stands under a name like a message, and begins with
    a direction mark, which people don't type; so do polls and places, which have a colon or more lines.
    """
    if text.startswith(_MARK) and ":" not in text and "\n" not in text and not _NAMED.match(text):
        return True
    if len(text) > _LONGEST_NOTE:
        return False
    bare = text.strip(f"{_MARK} \u00a0")
    return _LEFT_OUT.fullmatch(bare) is not None or _DELETED.fullmatch(bare) is not None


def blocks_of(text: str) -> tuple[Block, ...]:
    """Return a block for the file that a message came with or that was left out of the export.

    A name stands in the text, where it is found; so the block has no caption.
    """
    named = _NAMED.match(text) or _ATTACHED.match(text)
    if named is not None:
        data: dict[str, Any] = {"name": named[1], "type": named[1].rpartition(".")[2].casefold()}
        return (Block("attachment", data),)
    if len(text) > _LONGEST_NOTE:
        return ()
    bare = text.strip(f"{_MARK} \u00a0")
    return (Block("attachment", {"left_out": bare}),) if _LEFT_OUT.fullmatch(bare) else ()


def said_of(text: str) -> Span | None:
    """Return the span before WhatsApp's word on an edit, or None when there is none."""
    found = _EDITED.search(text) if text.endswith(">") else None
    return None if found is None else Span(0, found.start())
