"""English word lists for the rules extractor: closed classes, titles, kinds of places and organisations, irregular verbs.

Short on purpose: what a text's own capitals and word counts can tell is not listed. Pure data and two look-ups; no model.
"""

from __future__ import annotations

from collections.abc import Container

from kgeval.text.wordlists import word_set

PRONOUNS = word_set(
    "i you he she it we they me him us them my your his her hers its our ours their theirs mine yours myself yourself himself "
    "herself itself ourselves themselves who whom whose what which this that these those one ones someone somebody anyone anybody "
    "everyone everybody nobody none something anything everything nothing each other another such same thou thee thy thine ye"
)
SUBJECTS = word_set("i you he she it we they who which what thou ye one there")
DETERMINERS = word_set("the a an this that these those my your his her its our their some any no every each all both either neither")
CONJUNCTIONS = word_set(
    "and but or nor so yet for if because although though unless until when whenever where wherever whereas while whilst since "
    "whether than as lest once that how why"
)
PREPOSITIONS = word_set(
    "of in at to from with by on for into onto upon near under over above below behind beside besides between beyond through "
    "throughout towards toward against among amongst across along around round about before after within without inside outside "
    "off beneath during past via like unlike except until till since up down out as"
)
PLACING = word_set("in at to from near into towards toward through across around round throughout within outside inside beyond via")
JOINING = word_set(
    "of in at to from with by on for into onto upon near under over behind beside through throughout towards toward against among "
    "across along around round beyond within inside outside off beneath as about after before"
)
BARE = word_set("of in at from near with on for by under behind beside within against beyond towards toward")
ADVERBS = word_set(
    "not never also then now soon still again always often once ever even just only already quite very too rather almost perhaps "
    "here there thus therefore however moreover meanwhile indeed afterwards thereupon hence away back together alone forth "
    "later first finally at-last yes no oh ah well aye nay alas hush hallo hello please thanks to-day to-morrow to-night"
)
AUXILIARIES = word_set(
    "am is are was were be been being has have had having do does did done will shall would should could can may might must "
    "ought cannot"
)
HEDGES = word_set("would should could may might can cannot must ought not never n't if nor neither no without hardly scarcely")
CONTRACTED = ("n't", "n’t")
OTHER_OPENERS = word_set(
    "about after all along among and another any at because before behind below between both but by come dear down during each "
    "either enough every few for from go good had half has have here how if in indeed into is just last let like little look many "
    "more most much my neither next no none nor nothing now of off oh old on only or other our out over poor several shall since so "
    "some such suppose take than thank that the then there think though three through till to two under until up upon very was were "
    "what when where whether while whose why will with without would young chapter volume book part page section note notes preface "
    "contents appendix index introduction illustration illustrations figure table footnote vol edition end great small new first second "
    "third fourth fifth sixth seventh eighth ninth tenth yesterday today to-day tomorrow to-morrow tonight to-night nevertheless "
    "accordingly besides certainly suddenly presently immediately happily unfortunately fortunately formerly generally"
)
CALENDAR = word_set(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sept sep oct "
    "nov dec monday tuesday wednesday thursday friday saturday sunday"
)
OPENERS = PRONOUNS | DETERMINERS | CONJUNCTIONS | PREPOSITIONS | ADVERBS | AUXILIARIES | OTHER_OPENERS
NEVER = (PRONOUNS | DETERMINERS | CONJUNCTIONS | AUXILIARIES | PREPOSITIONS | word_set(
    "yes no oh ah well aye nay alas hush hallo hello chapter volume illustration footnote ill vol transcriber's o ay eh ha"
)) - word_set("may will mine round down like")

PERSON_TITLES = word_set(
    "mr mrs miss ms mister messrs mme madame mlle mademoiselle monsieur m herr frau fräulein señor señora signor signora signorina don "
    "doña dr doctor prof professor sir lady lord dame king queen prince princess duke duchess earl count countess baron baroness "
    "marquis marquess viscount emperor empress sultan sheikh shah tsar czar pope cardinal archbishop bishop abbot father brother "
    "sister mother uncle aunt cousin rev reverend captain capt colonel col general gen major lieutenant lt sergeant sgt corporal "
    "admiral commander commodore president senator governor gov mayor judge justice inspector detective sheriff marshal squire "
    "master hon chief consul vice-consul ambassador minister secretary"
)
EMPTY_ALONE = word_set("mr mrs ms miss messrs mme mlle m dr prof sir madam ma'am rev capt col lt sgt hon st ste esq jr sr")
REIGNING = word_set(
    "king queen prince princess duke duchess earl count countess baron baroness marquis marquess viscount emperor empress sultan "
    "lord lady bishop archbishop bey pasha shah tsar czar pope abbot elector viceroy"
)
ABBREVIATIONS = word_set(
    "mr mrs ms messrs mme mlle dr prof st ste rev capt col gen maj lt sgt hon gov pres sen supt mt ft no vol jr sr esq co inc ltd"
)
PARTICLES = word_set("de da do dos du des di del della la le van von der den ter ten zu bin ibn ben el al y af")
PLACE_HEADS = word_set(
    "town city village street road lane square bridge river lake sea ocean bay cove gulf strait channel rock rocks mount "
    "mountain mountains hill hills valley island islands isle isles castle palace tower park gardens forest wood woods beach "
    "sands cape point head harbour harbor port coast county parish province republic kingdom empire desert plains falls pool "
    "hall house hotel inn farm manor abbey cathedral church chapel station bar gulch creek cañon canyon flat pass peak ridge "
    "lighthouse lights avenue terrace court"
)
PLACE_FRONTS = word_set("mount mt lake cape fort port isle river san santa saint-germain north south east west upper lower new")
ORGANIZATION_HEADS = word_set(
    "company corporation bank university college school institute institution academy society association union party army navy "
    "committee commission council ministry department office agency club guild order press trust fund foundation league senate "
    "parliament congress court museum library hospital railway railroad express team orchestra legion regiment brigade inc ltd llc "
    "plc corp co gmbh ag sa bv"
)
KIN = word_set(
    "wife husband son daughter father mother brother sister uncle aunt nephew niece cousin grandfather grandmother grandson "
    "granddaughter widow child friend partner master servant clerk secretary teacher pupil student assistant successor predecessor "
    "lover mistress bride fiancée enemy rival ally neighbour neighbor companion daughter-in-law son-in-law mother-in-law "
    "father-in-law brother-in-law sister-in-law stepfather stepmother guardian ward heir king queen president director founder "
    "author editor leader chief capital"
)
BODY = word_set("face eyes hand hands head voice heart hair lips mind eye ear ears arm arms shoulder wife husband mother father temper")
SAYING = word_set(
    "said says say asked answered replied cried exclaimed whispered murmured muttered shouted laughed smiled nodded sighed thought "
    "remarked returned observed added repeated began continued interrupted stammered declared responded demanded wept "
    "believed felt knew wished hoped paused turned looked stared blushed bowed frowned"
)
GIVEN_NAMES = word_set(
    "adam agnes albert alexander alfred alice amelia andrew ann anna anne anthony arthur barbara beatrice benjamin bernard caroline "
    "catherine cecilia charles charlotte christopher clara daniel david dorothy edgar edith edmund edward eleanor elizabeth ellen "
    "emily emma ernest eugene eva fanny frances francis frank frederick george gerald gertrude grace harold harriet harry "
    "helen henrietta henry herbert hugh ida isabel isabella jack jacob james jane jean jessie jim joan joe john jonathan joseph joshua "
    "julia kate katharine laura lawrence leonard lewis louis louisa lucy margaret maria mark martha martin mary matilda matthew "
    "michael mildred nancy nathaniel nicholas nora oliver oscar patrick paul peter philip rachel ralph rebecca richard robert roger rose "
    "ruth samuel sarah simon sophia stephen susan theodore thomas timothy tom victoria vincent violet walter william"
)

_IRREGULAR = """be am is are was were been being|have has had having|do does did done doing|go goes went gone going|say says said|
see sees saw seen|come comes came|become becomes became|give gives gave given|take takes took taken|make makes made|
find finds found|know knows knew known|think thinks thought|tell tells told|meet meets met|leave leaves left|feel feels felt|
bring brings brought|buy buys bought|sell sells sold|send sends sent|spend spends spent|lend lends lent|build builds built|
lead leads led|keep keeps kept|sleep sleeps slept|weep weeps wept|sweep sweeps swept|hold holds held|stand stands stood|
understand understands understood|hear hears heard|lose loses lost|win wins won|run runs ran|begin begins began begun|
write writes wrote written|ride rides rode ridden|drive drives drove driven|rise rises rose risen|speak speaks spoke spoken|
break breaks broke broken|choose chooses chose chosen|steal steals stole stolen|wear wears wore worn|bear bears bore born borne|
swear swears swore sworn|tear tears tore torn|draw draws drew drawn|throw throws threw thrown|grow grows grew grown|
blow blows blew blown|fly flies flew flown|show shows showed shown|fall falls fell fallen|forget forgets forgot forgotten|
get gets got gotten|hide hides hid hidden|bite bites bit bitten|eat eats ate eaten|drink drinks drank drunk|sing sings sang sung|
ring rings rang rung|sink sinks sank sunk|swim swims swam swum|sit sits sat|lie lies lay lain|lay lays laid|pay pays paid|
fight fights fought|seek seeks sought|catch catches caught|teach teaches taught|bind binds bound|wind winds wound|
grind grinds ground|hang hangs hung hanged|strike strikes struck stricken|shoot shoots shot|shake shakes shook shaken|
forsake forsakes forsook forsaken|wake wakes woke woken|dig digs dug|stick sticks stuck|sting stings stung|swing swings swung|
spring springs sprang sprung|cling clings clung|fling flings flung|flee flees fled|feed feeds fed|breed breeds bred|
bleed bleeds bled|speed speeds sped|shed sheds|cut cuts|put puts|set sets|let lets|hit hits|hurt hurts|shut shuts|cast casts|
cost costs|read reads|spread spreads|beat beats beaten|bid bids bade bidden|forbid forbids forbade forbidden|
forgive forgives forgave forgiven|slay slays slew slain|tread treads trod trodden|shine shines shone|slide slides slid|
split splits|creep creeps crept|deal deals dealt|mean means meant|dream dreams dreamt|burn burns burnt|learn learns learnt|
dwell dwells dwelt|spell spells spelt|spill spills spilt|lean leans leant|leap leaps leapt|overcome overcomes overcame|
overtake overtakes overtook overtaken|undertake undertakes undertook undertaken|withdraw withdraws withdrew withdrawn|
arise arises arose arisen|awake awakes awoke awoken|behold beholds beheld|beget begets begot begotten"""
# Of a form that two verbs have ("lay": lie, lay) the later one counts.
IRREGULAR = {form: line.split()[0] for line in _IRREGULAR.replace("\n", " ").split("|") for form in line.split()}
_REGULAR = word_set(
    "accept accompany accuse acknowledge acquire act add address admire admit adopt advise aid aim announce answer appear appoint approach "
    "approve arrange arrest arrive ask assassinate assist attack attend avoid banish baptise baptize befriend belong besiege betray border "
    "borrow bury call capture carry cause celebrate change charge chase claim climb close collect command commission compare compose "
    "conduct confess confront conquer consist consult contain continue control convince cooperate correct count cover create criticise "
    "criticize cross crown cry cure dance decide declare dedicate defeat defend defy delight deliver demand deny depart depend describe "
    "design desire despise destroy develop die direct discover discuss dislike dismiss divide divorce donate educate elect embrace "
    "employ encounter encourage enjoy enlist enter entertain escape escort establish examine exchange execute exile expect explain "
    "explore express face fail fear fetch fill finance flank flatter flow follow found free frighten gain gather govern grant greet guard "
    "guide hate head help hire honour hope house imitate imprison include influence inform inherit inhabit inspire instruct intend "
    "interview introduce invade invent invite join judge kill kiss knight land last launch like link listen live locate look love "
    "manage march marry mention merge miss mistake mount move murder name need negotiate notice nurse obey object observe occupy offer "
    "open oppose order overlook own paint pass perform persuade plan plant play please point possess praise prefer prepare present "
    "preside prevent produce promise propose protect prove publish punish purchase pursue push quote raise reach receive recognise "
    "recognize recommend record refer refuse regard reign reject relate release remain remember remind remove represent rescue "
    "resemble reside respect rest return reveal rule sail save search serve settle share shelter shout sign signal smile start starve "
    "stay stop study succeed suffer suggest support surprise surround suspect talk thank threaten touch travel treat trust try turn "
    "unite urge use visit wait walk want warn watch welcome wish witness work worship wound"
)
_NO_AGENT = word_set("lived passed stopped walked stayed died called travelled traveled moved waited gone been fallen risen ended happened")
NO_VERBS = word_set(
    "hundred sacred red bed indeed need naked wicked ragged rugged crooked learned aged beloved speed seed deed breed feed creed greed "
    "weed reed shed sled kindred hatred wretched old-fashioned blessed so-called hot-headed well-known good-natured united"
)


def lemma(word: str, vocabulary: Container[str]) -> str | None:
    """The base form of a lower-case verb form, or None where the word does not look like a verb.

    Known: irregular verbs, a list of regular ones in -s and bare form, and every word in -ed. Where spelling leaves two bases open
    ("hoped": hop, hope) the one that is listed, or else stands in `vocabulary`, is taken.
    """
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in _REGULAR:
        return word
    if word.endswith("ed") and len(word) > 3 and word not in NO_VERBS and word[-3] not in "eo":
        return _base(_past_bases(word), vocabulary)
    if word.endswith("s") and len(word) > 3:
        return next((base for base in _present_bases(word) if base in _REGULAR), None)
    return None


def is_agentive(word: str) -> bool:
    """Whether "X <word> by Y" tells what Y did, without "was" ("a book written by Y"): participles, but not verbs of moving and being."""
    return word not in _NO_AGENT and (word.endswith(("ed", "en", "wn")) or word in ("made", "built", "led", "taught", "found", "bought"))


def is_participle(word: str) -> bool:
    """Whether a verb form can follow "was" in a passive: -ed, or irregular and not the bare or -s form."""
    if word in IRREGULAR:
        return word != IRREGULAR[word] and not word.endswith("s") and word not in AUXILIARIES
    return word.endswith("ed")


def _past_bases(word: str) -> list[str]:
    stem = word[:-2]
    if stem.endswith("i"):
        # "carried" is of carry; with two letters ("died", "tied") it is of die.
        return [stem[:-1] + "y", stem] if len(stem) > 2 else [stem + "e"]
    if len(stem) > 2 and stem[-1] == stem[-2]:
        # Verbs whose own base ends so: pass, call, stuff, buzz. Other doubled letters come with -ed: stop, stopped.
        return [stem, stem[:-1]] if stem[-1] in "slfz" else [stem[:-1], stem]
    return [stem + "e", stem] if _wants_e(stem) else [stem, stem + "e"]


def _wants_e(stem: str) -> bool:
    """Endings after which English writes a silent e: "danc", "liv", "argu", "charg", "plac", "not" of one syllable, "creat"."""
    if stem.endswith(("c", "v", "u", "z", "dg", "ng", "rg", "at", "iz", "bl", "tl", "dl", "pl", "gl", "kl", "rs", "ns", "ur", "uir", "is")):
        return not stem.endswith(("eat", "oat", "long", "hang", "bring", "treat", "visit", "our", "eur"))
    vowels = "aeiouy"
    short = len(stem) >= 2 and sum(c in vowels for c in stem) == 1
    return short and stem[-1] not in vowels + "wx" and stem[-2] in vowels


def _present_bases(word: str) -> list[str]:
    if word.endswith("ies"):
        return [word[:-3] + "y"]
    return [word[:-1], word[:-2]] if word.endswith("es") else [word[:-1]]


def _base(candidates: list[str], vocabulary: Container[str]) -> str:
    for known in (_REGULAR, vocabulary):
        for candidate in candidates:
            if candidate in known:
                return candidate
    return candidates[0]
