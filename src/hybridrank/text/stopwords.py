"""The words and phrases that ask, in English, Chinese, Japanese and Korean."""

from __future__ import annotations

import re
from functools import cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = _words("a an the")
POLITE = _words("please")
# These say that a text is a question wherever they stand …
ASKING = _words("how what why who whom whose how's what's why's who's")
# … these name things of programming too (numpy.where, `which`), so it depends on where they stand.
ALSO_NAMES = _words("where which when where's when's")
AUXILIARIES = _words(
    """is are am was were be been being do does did has have had can could should would will shall may might
    must isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't shouldn't
    wouldn't won't"""
)
PRONOUNS = _words("i i'm i'd we you me my our your it there")
SHOW_ME = _words("show tell give")

# Han, kana and Hangul syllables; the rarer ones do not matter beside an asking phrase.
_CJK = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_NO_MORE = f"(?![{_CJK}])"
_BEGINNING = f"(?<![{_CJK}])"

# Chinese, simplified and traditional. A verb of programming goes with its question word where nothing follows
# that it could be a part of: 在哪被调用, but of 在哪调用链路 only 在哪.
_VERB = "(?:[调調]用|呼叫|定[义義]|[声聲]明|宣告|[实實][现現]|[实實]作|使用|引用|用到|[执執]行)"
_DONE = f"(?:[被所]?{_VERB}(?:[了过過]|[的到]?{_NO_MORE}))?"
_NOUN = "(?:定[义義]|[实實][现現]|[实實]作|[声聲]明|位置|用法|源[码碼])"
_THIS = "(?:[这這][个個]|[该該])(?:函[数數]|方法|[类類]|[变變]量|[变變][数數]|接口|介面)"
_BEFORE = f"(?:(?:的|{_BEGINNING}){_NOUN}|{_THIS})?[都是又]?"
_WHAT = "(?:什[么麼]|甚[么麼]|啥)"
_CHINESE = (
    f"{_BEFORE}(?:[在到从從于於]?(?:哪[里裡裏儿兒]|哪一?[个個]?(?:地方|文件|[档檔]案|模[块塊組组])|(?<![任如为為几幾])何[处處](?!理))|"
    f"[在到从從于於]哪(?![些吒])){_DONE}",
    f"[被是]?[谁誰]{_DONE}",
    f"(?<![因认認作成])[为為](?:{_WHAT}|何)",
    f"(?:[应應]?[该該]|[是要])?(?:怎[么麼][样樣]?|怎[样樣]|如何)(?:回事|(?:{_VERB}|工作|[运運]作|用|做|[办辦])的?{_NO_MORE})?",
    f"{_WHAT}是(?!否)",
    f"是?[是做干幹有叫]?{_WHAT}(?:[时時]候|地方|[东東]西|(?:的|用|意思|[样樣]的?){_NO_MORE})?",
    "[有是在]?哪(?:些|一?[个個种種类類]|几[个個]|幾個)(?:[东東]西|地方)?",
    "(?<![任几幾])何[时時]",
    "[是可]否(?![则則定决決认認])",
    "(?<![功性可效智职職])能否(?![则則定决決认認])",
    "有[没沒]有|能不能|可不可以|[会會]不[会會]|是不是|多少",
    "[请請][问問](?![题題])|[请請]?告[诉訴]我|[帮幫]我(?:[找查]|一下)*|我想(?:知道|了解)|想[问問](?![题題])(?:一下)?",
    f"[吗嗎呢]+{_NO_MORE}",
)
_JA_VERB = "(?:呼び出|呼|定義|使用|利用|使|実装|宣言|参照)[ばしさわっ]?れ?(?:てい?)?(?:ます|るのです|るの)か"
_NOT_IN_KANA = "(?<![ぁ-ん])"
_JAPANESE = (
    f"[はがをって]{{0,2}}どこ(?![かも])[でにへ]?(?:から)?(?:{_JA_VERB}{_NO_MORE})?(?:にあり|あり)?(?:ます|です)?か?{_NO_MORE}",
    "は?どこ(?:で|に|へ|から)",
    "なぜ|どうして(?!も)|どうやって|どのように|どのような|どうすれば|どうしたら",
    f"(?:(?:と?は)?(?:何|なん|なに)(?:です|でしょう)|とは(?:何|なん|なに))か{_NO_MORE}|とは(?:何|なに)?{_NO_MORE}",
    f"{_NOT_IN_KANA}(?:どの|どれ|だれ|いつ(?![もか]))",
    f"(?:し|さ?れ)?(?:てい?)?ま(?:す|せん)か{_NO_MORE}|(?:です|でしょう|の)か{_NO_MORE}",
    "を?教えて(?:ください|下さい)?",
)
_KO_ENDING = "(?:인가요|입니까|되나요|하나요|됩니까|합니까|되는지|하는지)"
_KOREAN = (
    f"{_BEGINNING}(?:어디(?:에서|에|서|로)?(?:인가요|예요|입니까)?|어떻게|왜|무엇(?:인가요|입니까|을|이)?|뭐(?:예요|야|가|를)?|"
    f"뭔가요|누가|누구|언제|어떤|어느|있나요|있습니까|있어요|{_KO_ENDING}|알려줘|알려주세요|주세요){_NO_MORE}",
    f"(?<=[가-힣]){_KO_ENDING}{_NO_MORE}",
)


@cache
def asking_phrases() -> re.Pattern[str]:
    """Finds the asking phrases of unspaced scripts, never next to what joins them to a name or a path."""
    phrases = "|".join((*_CHINESE, *_JAPANESE, *_KOREAN))
    return re.compile(rf"(?<![_./\\-])(?:{phrases})(?![_/\\]|[.-]\w)")
