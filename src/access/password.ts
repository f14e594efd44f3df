// Passwords: hashes with Argon2id in the PHC form, with their parameters, so that they can be raised later; and which passwords are too weak.
import { type Argon2Parameters, randomBytes, timingSafeEqual } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { problem } from '../model/problem.ts';
import type { HashAnswer, HashQuestion } from './password-worker.ts';

// OWASP's first recommendation: 19 MiB, two passes, one lane.
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;
const nonceLength = 16;
const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(nonceLength);
  const tag = await deriveOnThread({ message: password, nonce, tagLength, ...cost });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${text(nonce)}$${text(tag)}`;
}

/** Whether the password is the one that was hashed; takes the same time either way. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const { cost: hashCost, nonce, tag: expected } = parsed(hash);
  const found = await deriveOnThread({
    message: password,
    nonce,
    tagLength: expected.length,
    ...hashCost,
  });
  return timingSafeEqual(found, expected);
}

function parsed(hash: string) {
  const match = form.exec(hash);
  if (match === null) throw new Error('A password hash has an unknown form');
  const [, memory, passes, parallelism, nonce = '', tag = ''] = match;
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    nonce: Buffer.from(nonce, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function text(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** The hash of a chosen password; `names` as in `passwordWeakness`. Throws Problem 400 for one that is too easily guessed. */
export async function newPasswordHash(
  password: string,
  email: string,
  names: readonly string[] = [],
): Promise<string> {
  const reason = passwordWeakness(password, email, names);
  if (reason !== undefined) throw problem('passwordTooWeak', { reason });
  return hashPassword(password);
}

// Password thread: hashes passwords on a thread of its own, because the pool of libuv syncs the journal.

/** A thread that nobody needs ends after this time. */
const idleMsMax = 60_000;

/** The first hash starts the thread. When it ends by an error, its hashes fail and the next one starts another. */
class PasswordThread {
  #worker: Worker | undefined;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #asked = new Map<
    number,
    {
      readonly resolve: (tag: Buffer) => void;
      readonly reject: (error: Error) => void;
    }
  >();

  derive(parameters: Argon2Parameters): Promise<Buffer> {
    const worker = (this.#worker ??= this.#start());
    clearTimeout(this.#idle);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      // An idle thread keeps no process alive, one that works does.
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
      worker.postMessage({ id, parameters } satisfies HashQuestion);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./password-worker.ts', import.meta.url), {
      name: 'password',
      env: {},
    });
    let cause: unknown;
    worker.on('message', (answer: HashAnswer) => this.#receive(worker, answer));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      clearTimeout(this.#idle);
      const gone = new Error('The worker thread that hashes passwords exited', { cause });
      for (const { reject } of this.#asked.values()) reject(gone);
      this.#asked.clear();
    });
    return worker;
  }

  #receive(worker: Worker, { id, tag, error }: HashAnswer): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (tag === undefined) asked?.reject(new Error(error));
    else asked?.resolve(Buffer.from(tag));
    if (this.#asked.size > 0) return;
    worker.unref();
    this.#idle = setTimeout(() => {
      if (this.#worker === worker) this.#worker = undefined;
      void worker.terminate();
    }, idleMsMax).unref();
  }
}

const thread = new PasswordThread();

/** Argon2id of the password, one at a time. */
function deriveOnThread(parameters: Argon2Parameters): Promise<Buffer> {
  return thread.derive(parameters);
}

// Password rules: the passwords that are guessed first are rejected with a reason (NIST SP 800-63B section 5.1.1.2).

const passwordLength = { min: 10, max: 200 } as const;
const distinctMin = 5;
/** Parts of addresses and names from this length on count. */
const addressPartMin = 4;
/** Characters that must be left beside what is common. */
const ownCharactersMin = 5;
const keyboardRows = [
  '1234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
];

/** In every installation. */
const productWords = ['heliograph'];

/**
 * Why the password is too easily guessed; undefined for a good one. `names`: of the user and of the
 * organizations.
 */
export function passwordWeakness(
  password: string,
  email: string,
  names: readonly string[] = [],
): string | undefined {
  const { min, max } = passwordLength;
  if (password.length < min || password.length > max)
    return `it must be ${min} to ${max} characters long`;
  const text = password.toLowerCase();
  if (new Set(text).size < distinctMin)
    return `it must contain at least ${distinctMin} different characters`;
  if (/^(.{1,6})\1+.{0,2}$/.test(text)) return 'it repeats a short pattern';
  if (isSequence(text)) return 'it is a keyboard or number sequence, such as 12345 or qwert';
  if (isCommon(text)) return 'it is a commonly used password';
  if (isMadeOf(text, [email])) return 'it is too similar to the email address';
  if (isMadeOf(text, [...productWords, ...names]))
    return 'it is made of the name of the user, an organization or this product';
  return undefined;
}

function isSequence(text: string): boolean {
  let steps = 0;
  for (let at = 1; at < text.length; at += 1)
    if (areNeighbors(text.charAt(at - 1), text.charAt(at))) steps += 1;
  return steps >= (3 / 4) * (text.length - 1);
}

function areNeighbors(first: string, second: string): boolean {
  if (Math.abs(first.charCodeAt(0) - second.charCodeAt(0)) <= 1) return true;
  return keyboardRows.some((row) => row.includes(first + second) || row.includes(second + first));
}

const lookalikes: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/**
 * As it is, with letters for the digits that look like them, and without the digits and signs at
 * its ends.
 */
function isCommon(text: string): boolean {
  const bare = (word: string) => word.replace(/^[^a-z]+|[^a-z]+$/g, '');
  const spelled = withLetters(text);
  const core = bare(text);
  const inner = withLetters(core);
  return [text, spelled, core, inner, bare(spelled)].some((word) => commonPasswords.has(word));
}

function withLetters(text: string): string {
  return text.replace(/[013457@$!]/g, (sign) => lookalikes[sign] ?? sign);
}

/** Also with digits and signs in place of the letters that they look like. */
function isMadeOf(text: string, names: readonly string[]): boolean {
  const parts = names
    .map((name) => name.toLowerCase())
    .flatMap((name) => [name, name.replace(/\s+/g, ''), ...name.split(/[^\p{L}\p{N}]+/u)])
    .filter((part) => part.length >= addressPartMin)
    .toSorted((first, second) => second.length - first.length);
  return [text, withLetters(text)].some((spelled) => {
    let left = spelled;
    for (const part of parts) left = left.replaceAll(part, '');
    return left !== spelled && left.replace(/[^\p{L}]/gu, '').length < ownCharactersMin;
  });
}

/**
 * Lower case. Taken from the most used passwords of public breaches, as @zxcvbn-ts/language-common
 * (MIT) lists them; what rules find, such as digits alone and repetitions, is left out.
 */
const commonPasswords: ReadonlySet<string> = new Set(
  `
000777fffa 01telemike01 050605rostik 0987654321a 0cdh0v99ue 0o9i8u7y6t 1029384756q 10293847qp 111222333a 123123123a
123123123q 123123qweqwe 123321qweewq 1234554321a 1234554321q 123456789* 123456789. 1234567890a 1234567890d 1234567890l
1234567890m 1234567890o 1234567890p 1234567890q 1234567890qaz 1234567890qw 1234567890qwe 1234567890qwerty 1234567890s
1234567890w 1234567890z 1234567890zzz 123456789a 123456789aa 123456789aaa 123456789abc 123456789as 123456789asd
123456789b 123456789c 123456789d 123456789e 123456789f 123456789g 123456789i 123456789j 123456789k 123456789l
123456789m 123456789n 123456789o 123456789p 123456789q 123456789qaz 123456789qq 123456789qqq 123456789qw 123456789qwe
123456789qwer 123456789qwerty 123456789r 123456789s 123456789t 123456789v 123456789w 123456789x 123456789y 123456789z
123456789zx 123456789zxc 123456789zz 12345678qwe 1234567qwertyu 123456qwer 123456qwert 123456qwerty 123456zxcvbn
12345abcde 12345asdfg 12345qazwsx 12345qwert 12345qwert7 12345qwerty 12345trewq 12345zxcvb 1234qwerasdf
1234qwerasdfzxcv 1234qwerty 123654789a 123ewqasdcxz 123hfjdk147 123qwe123qwe 123qwe456rty 123qweasdzx 123qweasdzxc
123qwerty123 12andriy14 12qw34er56ty 132forever 147258369a 192837465q 1958proman 1986irachka 19952009sa 19960610ilja
19mtpgam19 1a2a3a4a5a 1a2a3a4a5a6a 1a2b3c4d5e 1a2s3d4f5g 1a2s3d4f5g6h 1pass1page 1q2q3q4q5q 1q2w3e4r5t 1q2w3e4r5t6y
1q3e5t7u9o 1qa2ws3ed4rf 1qa2ws3ed4rf5tg 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazwsxedc 1qazxsw23edc 1qazxsw23edcvfr4
1qwertyuiop 1z2x3c4v5b 20162016up 23176djivanfros 23wkoa0fp78dk 2606642yra 26429vadim 2dumb2live 32615948worms
38gjgeuftd 3f3fpht7op 3rjs1la7qe 3syqo15hil 413276191q 41d8cd98f00b 42qwerty42 4815162342a 4815162342lf 4815162342lost
4815162342q 4904s677075 5858855abc 59382113kevinp 5hsu75kpot 5t4r3e2w1q 6215mila6215 671fsa75yt 7777755102q 789456123a
789456123q 7elephants 7jokx7b9du 7ugd5hip2j 80070633pc 80361665abc 8096468644q 87654321vv 87e5nclizry 89063032220m
89231243658s 89876065093rax 89semtsriuty 8phrowz622 8phrowz624 9293709b13 987654321a 987654321g 987654321z 989244342a
99strenght 9z5ve9rrcz a123456789 a1234567890 a1a2a3a4a5 a1b2c3d4e5 a1s2d3f4g5 a1s2d3f4g5h6 a3eilm2s2y a789456123
a987654321 aa123456789 aardvark aaron abc123456789 abcd123456 abcde12345 abercrombie abgrtyu abigail abracadabra
abrakadabra absolutely access accord accountbloc accounting action activation ad12345678 adam adgjmptw adidas admin
admin18533362 administrator adrenaline adrian aezakmi123 afghanistan africa afrika2002 airborne airforce airplane
ajcuivd289 ajnjuhfabz aksjdlasdakj89879 alabama alabama123 alaska albert alberto alejandr alejandro1 aleksander
aleksandr aleksandra alessandra alessandro alex alexande alexander alexander1 alexandr alexandra alexandra1 alexandria
alexis alexsander alfred alicia aliens alinaalina alisaalisa alison alkanaft123 allahuakbar allen allison alpha
alpha135792468 alphabravo alphaomega alpine alternativa alternative always alyssa am4h39d8nh amadeus amadeusptfcor
amanda amateur ambassador amber america american amsterdam1 an83546921an13 anakin anal anastasia anastasija anastasiya
anderlecht anderson andre andrea andreas andrei andrew andrewjackie andrey andrey1992 andy angel angela angelangel
angelica angelina angelo angelochek angelofwar angels animal animal2000 anna annie antananarivu anthony antichrist
anton antonio anubis anything anytimetoday apache apocalypse apokalipsis apollo apple applejuice apples applesauce
april aragorn archer archie arizona armageddon arnold arsenal arsenal123 artemartem arthur artist asd123asd123 asdasd
asdf asdfasdf asdfg asdfg12345 asdfgh asdfgh123456 asdfghj asdfghjk asdfghjkl asdfghjkl1 asdfghjkl123 asdzxc ashley
assass assassin asshole asshole123 assman astalavista astonmartin astonvilla astra334566 athena atlanta atlantis
auburn auckland2010 audrey august aurora austin australia1 autumn avalon avatar avrillavigne awdrgyjilp awesome
awesome123 awo8rx3wa8t azerbaijan azerbaycan azerty azertyuiop azsxdcfvgb azwebitalia babe babemagnet babes baby
babydoll babygirl babylon badass badboy badger badiman28200 badnaamhere baggins bailey ball baller balls bambam banana
bananas bandit bang bangladesh banshee barbara barbarossa barbie barcelon barcelona barney baseball baseball10
baseball11 baseball12 baseball21 basket basketba basketball basketball1 bass bassman bassmaster bastard batman battle
battlefield battlestar baxter beach beagle bear beatles beautiful beautiful1 beauty beaver beavis beer beetle
belladonna bender benjamin benson bentley berezuckiy berlin berlin1945 bernadette bernard bernie bertha bestfriend
bhrh0h2oof6xbqjeh bianca biblioteka bigballs bigboobs bigboy bigbrother bigcock bigdaddy bigdick bigdog bigfoot biggie
bigguy bigmac bigman bigone bigred bigtits bill billy billybob bingo bird birdie birmingham birthday birthday10
birthday100 birthday133 birthday21 birthday26 birthday27 birthday28 birthday299 birthday36 birthday54 biscuit bishop
bitch bitches biteme blabla black blackadder blackberry blackcat blackdog blackdragon blackhawks blackheart blackhorse
blackie blacklabel blackman blackmetal blacksheep blacksonblon blackwhite blade bladerunner blades blahblah blaster
blazer blessed blingbling blitzkrieg blizzard blonde blondie blood blowjob blowme bltynbabrfwbz blue bluebird
bluedevils bluedragon bluemoon blues bluesky bmvm3e46gtr bobafett bobbob bobby bobcat boeing bollocks bollox bomber
bond bondage bondarenko bonehead bonjour bonnie boobies booboo boobs booger boogie boomer booty boredboi4u boss boston
bot_schokk bottom bowling boy1cool23 boy4u2ownnyc bpgjldsgjldthnf bradley brandi brandon brandy brasil braveheart
braves brazil breakdance brenda brendan brian brianna bridge britney brittany bronco broncos brooke brooklyn brooks
brother brown brownie browns bruce brucewayne bruins bruno brutus bubba bubble bubbles buck buckeye buckeyes buddha
buddy budlight buffalo buffett buffy bugger bujhmbujhm bulldog bulldogs bullet bullnuts2003 bullshit bullwinkle bunny
burger burton bushmaster business businessbabe buster butler butt butter butterbean butterfl butterfly butterfly1
butthead buttons bvncnbnvvbn byajhvfnbrf byteme c43dae874d c43qpul5rz c7e4f8ezqh cactus cadillac caesar calculator
californ california california1 callie callofduty calvin camaro camera cameron camille campbell canada cancer candy
candyeater candyfinger cannon cannondale cantona capital captain cardinal carlo carlos carmen carolina caroline carpet
carrie carrot carson carter cartman casablanca caserta casey casino casper cassidy cassie castle catalina catdog
caterpillar catfish cats cavalier cdtnkfyf cegthgegth cegthgfhjkm celeste celica celtic celtic1888 cessna cfkfvfylhf
cghfdjxybr cgtwbfkbcn challenger champion chance chandler change changeme chaos charger chargers charles charleston
charlie charlie111 charlie123 charlott charlotte1 charly cheburashka check cheerleader cheerleaers cheese cheeseburger
cheesecake chelsea cherokee cherry cheryl chessmaster chester chester123 chesterfield chevelle chevy cheyenne chicago
chichi chicken chicken123 chickenwing101 chicks chiefs chinchilla chipper chocolat chocolate1 chopper chris chrisbrown
chrissy christ christia christiaan christian christian1 christin christine christop christophe christopher
christopher1 christy chronic chubby chuck chucky chupakabra cincinnati cinderella cindy civilization cjdthitycndj
cjkysirj cjkywt claire classic claude claudia clayton clifford clinton clover clubpenguin cnfc35762209 cnfnbcnbrf
cnjvfnjkju cobra cocacola cock cockgobbler cocksucker cody coffee collection colleen college collins colombia colorado
colors coltrane columbia combat123654 comicbookdb comicbooks commercial compaq compatible computador computadora
computer computer12 concrete condor confidence configuratio connect connection connie connor constantin constantine
construction consumer contortionist contrasena control controller cookie cookies cool cooldude coolio cooper
coorslight copenhagen copper corona corperfmonsy corporation corvette cosmopolitan cosmos cotton cougar counterstrike
country courtney cowboy cowboys coyote cracker crazy crazyhorse cream creative crepusculo cricket crimson cristina
cristopher crusader crystal ctdfcnjgjkm cthutq cumming cumshot cunt cuntfinger curious curtis cvzefh1gkc cxfcnkbdfz
cxfcnmttcnm cyberonline cyecvevhbr cyjdsvujljv cynthia cytuehjxrf daddy daddysgirl dagger daisy dakota dallas damian
damien dancer danger daniel daniela danielle danni danny dark darkknight darkness darkside darkstar darren darthvader
darwin dashadasha dave david daytona dbrnjhbz dbrnjhjdbx dbrnjhjdyf dctvcjcfnm dctvghbdtn death debbie december deedee
deeppurple deepthroat deerhunter defender deftones delete delta deltaforce demolition denis denise dennis denver
department depechemode derrick description design desire desperados destiny destruction detroit deutschland devastator
devil devildog devildriver devilmaycry devilmaycry4 devils dexter dfktynbyrf dfvgbh dhjnvytyjub diablo diamond
diamonds diana dick dickhead dictionary diesel dietcoke difference digger digital digitalprodu dilbert dillon dima
dingdong director dirty discover disney disneyland djljghjdjl dkflbdjcnjr dkflbvbh dkflbvbhjdbx dkflbvbhjdyf
dmiller12as doctor dodge dodger dodgeram dodgers dodgeviper doggie doggy doggystyle dogphil3650 dogs dollar dolphin
dolphins domainlock2005 domination dominic domino domodedovo donald donaldduck donkey donkeykong doodle dookie dorothy
douglas dragon dragonball dragonballz dragonfire dragonforce dragons dream dreamer dreamonline dreams driver drizzt
drowssap drpepper drumandbass drummer dtynbkznjh dublin ducati duck dude dudley duke dumbass duncan dunnowho89
duranduran dustin dusty e6pz84qfcj eagle eagles eatme eatshit eclipse eddie edward edwardcullen efbcapa201 eghfdktybt
einstein ejaculation ekaterina ekaterina20 elaine electric electronic electronics element elena elephant elizabet
elizabeth elizabeth1 elsalvador elvis elwood emerald emily eminem empire energy engine engineer engineering england
english enigma enjoy enter enterpri enterprise entertainment eric erotic escaflowne escort eternity eugene evanescence
evangelion evelyn everton everything excellence exigen experience experienced explorer express extreme eybdthcbntn
falcon fallenangel falloutboy family fantasy farmer fartripper faster fatboy fatcat father fatima753357 fcbarcelona
fcnfkfdbcnf fdnjhbpfwbz felicidade felix fender fenerbahce fernando ferrari ferret fetish fgjkbyfhbz fgjrfkbgcbc
ficken fighter fighting54 finalfantasy findaupair007 finger finish fiorentina fire fireball firebird firefighter
firefly fireman firestarter firstone123 fish fisher fishfinger fishing fitzgerald fkg7h4f3v6 fkmnthyfnbdf fktrcfylh
fktrcfylh1 fktrcfylhf fktrcfylhjd fktrcfylhjdbx fktrcfylhjdf fktrcfylhjdyf fktrcfylth fktrctq flames flash flatron
flight flintstone flipper florence florida flower flowers fluffy flvbybcnhfnjh flyers foobar football football10
football12 football123 ford forest forever foreveryoung forget forgetmenot formatters formula fossil foster foundation
foxtrot france frances francis frank frankie franklin frankzappa freak freaky fred freddie freddy frederiksberg
fredfred free freedom freelancer freeman freepass freeuser french freyfvfnfnf friday friend friends friendship
friendster frog froggy froinlaven fromvermine frosty frozenfish fuck fuck_inside fucked fucker fuckface fuckfuck
fucking fuckinside fuckit fuckme fuckmehard fuckmylife fuckoff fuckoff666 fuckthemall fucktheworld fuckthroat fuckyou
fuckyou123 fuckyoubitch fuckyouguys fufnfrhbcnb funtime fusion future fyfcnfcbz fyfcnfcbz1 fyfnjkmtdbx fyfnjkmtdyf
fylhtq fynfyfyfhbde gabriel galatasara galatasaray galaxy galina galore gambit gamemaster gandalf gangbanged gangsta
gangster garcia garden garfield garrett gatekeeper gateway gators gblfhfcbyf gearsofwar geheim gemini general
generation genesis genius george georgetown georgia gerald gerard gerasimova german germany geronimo getsome
gettysburg gfhfcjkmrf gfhfktkjuhfv gfhfvgfvgfv gfhjkm gfhjkmgfhjkm ghbdtn ghbdtnbr ghbdtndctv ghbdtnghbdtn ghbdtngjrf
ghbdtnrfrltkf ghhh47hj764 ghhh47hj7649 ghjatccbjyfk ghjcnbnenrf ghjcnbvtyz ghjcnj ghjcnjabkz ghjcnjgbpltw ghjcnjgfhjkm
ghjcnjghjcnj ghjcnjnfr1 ghjcnjqgfhjkm ghjcnjrdfibyj ghjcnjrdfif ghjgfufylf ghjnbdjcnjzybt ghjnbdjufp ghjrehfnehf
ghjrjgtyrj ghjuhfvbcn ghjuhfvvbcn ghost ghostrecon ghostrider ghtdtlvtldtl giants gibson gilbert gilbert2707 ginger
giovanni girl girlfriend girls gizmo gjdtkbntkm gjhjlfcjqrb gjikbdctyf gjkysqgbpltw gjyjvfhtdf gjytltkmybr global
gloria goblin goblue goddess godisgreat godzilla godzils4s7 goforit gold goldberg golden goldfinger goldfish goldie
golf golfer golfing goober good good123654 goodfellas goodluck goodmorning google gordolee85 gordon gorilla gotcha
gothic grace gracie graham grandmaster grandorgue grasshopper great greedisgood green greenday greengreen greenhouse
greenlantern greg gregory grendel griffey griffin grimreaper grizzly groovy groupd2013 gthtcnhjqrf gthtrfnbgjkt
gthtrhtcnjr gtnhjpfdjlcr guardian guinness guitar guitarhero gundam gundamwing gunner gunslinger gxlmxbewym gy3yt2rgls
h72sfibbnl hacker halflife hallelujah hamilton hamlet hammer hammerhead hammertime hamster hannah hannibal hansolo
happy happyhappy hard hardcore hardon hardwareid harley harmony harold harris harrison harry harrypotter harvey hawaii
hawkeye hd764nw5d7e1vb1 hd764nw5d7e1vbv head headhunter heather heaven heavymetal hector hedimaptfcor helena
helicopter hell hellfire hello hellohello hellokitty hellothere helloworld hellraiser help helpme hendrix henry hentai
herbert hercules herman hershey hesoyam hesoyam123 highland highlander hijodeputa hiphop history hitman hjvfirf hobbes
hobbit hockey hocuspocus holden holiday holland hollister1 holly hollywoo hollywood1 holmes home homer honda
hondacivic hondas2000 honey hongkong hooker hooters hoover hornet horney horny horse horsepower horses hotboy hotdog
hotrod hotsex hotstuff hottie house housemusic housewifes houston howard hshfd4n279 htubcnhfwbz hummer hunter hunting
hurricanes huskers hypnodanny iaapptfcor iamawesome iampurehaha2 ibanez icecream iceman iddqdidkfa idontknow1
ilikepussy illuminati iloveboobies ilovegirls ilovejesus ilovemusic ilovemyfamily ilovemylife ilovemyself ilovepussy
ilovesex iloveu iloveyou iloveyou11 iloveyou12 iloveyou123 iloveyou143 iloveyou22 imagination imjakie123 immortal
impala impossible incredible incubus independent indian indiana indians indigo infalicall infantry inferno infinity
information ingodwetrust insane insertions inside installdevic installsqlst installutil integra intelinside
intelligence interacial intercourse intermilan international internet intrepid ipo54tj45uy856 ireland irina irish
ironmaiden ironman isabel isabella isabelle iseedeadpeople island italia itsasecret ivanivanov iverson iwantu
j3qq4h7h2v jack jackass jackdaniels jackhammer jackie jackoff jackson jacob jacqueline jaguar jake jamaica james
jamesbond007 jamesjames jamie janice january japan jasmin jasmine jasmine123 jason jasper jazz jediknight jedimaster
jeep jeff jeffrey jennifer jenny jeremy jericho jerome jerry jersey jessejames jessica jessie jester jesus jesuschris
jesuschrist jesusfreak jesusislord jesussaves jetbalance jigei743ks jimandanne jimbob jimmy jlbyjxtcndj joanna joanne
joejoe joey john johnjohn johnny johnson joker jokerjoker jonathan jones jordan joseph josephphone7 josh joshua juan
juancarlos juggernaut juice julia julian julie jumper jungle junior jupiter justforfun justice justin justinbiebe
justinbieber justme juventus jxfhjdfirf k123456789 kaiser kalifornia kaliningrad kamehameha kamelia2011 kangaroo
kanmax1994 kansas karate karen karina katana katerina kathleen katie katrina katyakatya kawasaki kazakhstan kbnthfnehf
kd189nlcih keeper kelly kelsey kennedy kenneth kenny kensington kermit kevin keyboard killer kimberly king kingdom
kingfisher kingkong kirill kiss kissme kitkat kitten kitty kittycat kittykitty klapaucius klaster klubnichka
knickerless knicks knight knights knucklehead kobebryant kodiak kolobok konovalova konstantin kozanostra kramer
krasavchik kravchenko kristen kristin kristina kristopher kryptonite ktjynsq40147 kudos4ever kurtcobain kwiatuszek
lacrosse ladies lady ladybug ladyffesta lakers lamborghini lamborgini lancer larisa larry lasvegas latino laura lauren
lawrence lawyer leather leavemealone ledzep ledzeppelin left4dead2 legend legion legolas lennon leonard leonardo
lesbian leslie lestat lester letmein letmein123 letmeinnow lexmark lfplhfgthvf lhbjkjubz2957704 liberty licker lickme
lifehack lifeisgood light lighthouse lights lightsaber limpbizkit lincoln linda lindsay lindsey lineage123 linkinpark
liquid lisa lissalissa little littlebear littlebitch littlefuck littlegirl littleminge littleslut littlewhore liverpoo
liverpool liverpool1 liverpoolfc livestrong lizard lkjhgfdsazx lobster lockerroom logan logitech lolita lollipop
lollol lololyo123 london lonestar lonewolf long longhorn looking loploprock lorenzo lorraine losangeles loser
lost4815162342 lothlorien lotrfotr34 louise loulou love love777321777 loveforever loveislife lovelove lovely loveme
lover loverboy lovers loveyou lovezp1314 loving lowrider lp2568cskt lsia9dnb9y luansantana lucas lucifer lucifer666
lucky luckycharm lucy luke lumberjack luojianhua luther lvbnhbq lytdybrbdfvgbhf lytghjgtnhjdcr lzhan16889 m123456789
m6cjy69u35 ma123123123 machine madagascar madagaskar maddie maddog madison madman madmax madness madonna madrid
maestro maggie magic magical123 magnolia magnum maiden mailcreated5240 maintenance maisuradze makaveli maksim malcolm
malibu management manager manchester manchester1 mandarinka mandragora mangust6403 maniac manson manuel manutd
mapet123456 mapleleafs maprchem56458 marathon marcel marco marcus marcuseckos margaret margherita maria mariah
mariamaria marie marina marinamarina marine marines marino marinochka mario marion mark markhegarty markus marlboro
marley marlin marshall martha martin martina martini marvin mary maryjane mashamasha massimiliano master masterbaiting
masterbate masterbating mastercard masterchief mastermind masters masturbate masturbation matchbox20 matematica
matematika mathematics matrix matt matthew mattylad10 mature maurice maurolarastefy maverick maxima maximilian maximus
maxine maxmax maxmotives maxwell mechanical meditation megadeth megaman megan melanie melinda melissa melvin member
memphis mercedes mercury meridian merlin metallic metallica metallica1 metropolis mevefalkcakk mexico miami michael
michael123 michaeljackson michel michele michelle michigan mickey mickeymouse microphone microsoft midnight miguel
mike milano milfhunter millennium miller millerlite millertime millie million millionaire milton mine minecraft
minecraft123 minhasenha minicooper minnesota_hp minnie mirage miranda misiaczek1 mission mississippi missy mister
mistress misty mitchell mitsubishi mobile mollie molly molson momsanaladventure monday money moneymaker moneymoney
mongoose monica monika monique monitor monkey monkeybutt monroe monster monster123 montana montecarlo montenegro
montgom240 montgomery montreal mookie moomoo moon moose morgan morganstanley morpheus morris morrison mortalkombat
moscow mostwanted motdepasse mother motherfuck motherfucker motherlode motorcycle motorola mountain mouse mousemouse
movie mozart msoracle32re msorcloledbr muffin mulder multimedia multiplelo multiplelog munchkin murcielago murphy
murray muscle mushroom music musiclover musicman mustang mustangs myjdxtcxks mylove mypassword mystery nadine naked
napoleon naruto nascar nasty nastya nastya1995 nastya1996 nastya1997 nastya2010 nastyanastya natali natalia natalie
natasha natasha123 nathan national naughty naughtyboy navigation nccpl25282 ne_e_pod_chehyl necromancer necronomicon
need4speed needforspeed nelson nemesis nemvxyheqdd5oqxyxyzi neptune nesterenko network networkingpe neveragain
nevergiveup neverwinter newlife newman neworleans newpass newpassword newport newproject2004 newton newyork newzealand
nfnmzyf nhbujyjvtnhbz nhecsyfujkjdt nhfdvfnjkju123 nhfrnjhbcn nhfycajhvths nicholas nick nick1234-rem936 nicola
nicolas nicole nigger nightcrawler nightmare1 nightshade nikita nikita1998 nikita2000 nikki nikolaevna nimrod niners
ninja nintendo nintendo64 nipple nipples nirvana nissan nissan350z nokia6230i nokiadermo nolimit nondriversig none
nookie noonehackme nopassword norman norton nostradamus nothing nottingham november novosibirsk nthvbyfnjh nthvbyfnjh2
ntktdbpjh1994 nuaddn9561 nugget nuttertools nylons nymets oakland obiwan oblivion oc247ngucz october office oksana
olcrackmaster oldman oldsmobile olegnaruto olga oliver olivia omega omgkremidia onelove onetwothree online
ontheoutside ontherocks open opensesame openup orange orion orlando orochimaru oscar osiris outlaw overlord oxford
p0o9i8u7y6 pacific packard packers painkiller paintball1 pakistan paladin palmer pamela panama panasonic pandemonium
pandora pantera panther panthers panties panzer paradise paradox paraklast1974 paris parker parliament parol12345
parolparol parrot party pascal pass passat passion passmaster passport passtrader passwor password password00
password01 password10 password11 password12 password123 password1234 password13 password21 password22 password23
password69 password88 password99 passwordassword passwordpassword passwordstandard patches pathfinder patricia patrick
patriot patriots patton paul pavilion peace peacemaker peaches peanut peanutbutter peanuts pearljam pebbles peekaboo
peewee pegasus pencil penelope penetrating penetration penguin penguins penis penny pentium people pepper peppermint
pepsi percussion perfect perfection performance performing personal pervert peter peternorth peugeot406 pfhfnecnhf
pfqwtd27121988 phantom phezc419hv philadelphia philip philippines philips phillip philly philosophy phoebe phoenix
photos phpbb picard picasso pickle pickles pierre piglet pikachu pimp pimpin pineapple1 ping pink pioneer pirate
pirates pitbull pittsburgh pizza planet plastic platinum playboy player playground playstatio playstation playstation2
playstation3 playtime please pleasure plhfdcndeq pointblank pointbreak poison pokemon pokemon123 polaris police polina
polniypizdec0211 polniypizdec1102 polniypizdec110211 polopolo09 pontiac poohbear pookie poop poopie poopoo popcorn
popeye porn porno pornografia pornographic pornography pornstar porsche porsche911 porter portishead portland
portsmouth portugal postal postov1000 potato potter powder power powerpower powers precious predator prelude
premiumcash presario presidente preston pretty prettygirl primetime21 prince princes princess prisonbreak private
privet prodigy production professional programmer progressive prometheus prosperity protection psychnaut1 psycho
ptybnxtvgbjy puertorico pufunga7782 pumpkin punisher punkrock punksnotdead purple pussies pussy pussybitch pussycat
pussyeater pussylicker pussylover pussypussy pussys pyfrjvcndj pyramid python q123456789 q1234567890 q1q2q3q4q5
q1w2e3r4t5 q1w2e3r4t5y6 q1w2e3r4t5y6u7 q1w2e3r4t5y6u7i8 q1w2e3r4t5y6u7i8o9p0 qawsed qawsedrftg qawsedrftgyh
qaz123wsx456 qaz26101778 qazqaz qazwsx qazwsx1234 qazwsx12345 qazwsx123456 qazwsxed qazwsxedc qazwsxedc1 qazwsxedc12
qazwsxedc123 qazwsxedcrfv qazwsxedcrfvtgb qazwsxqazwsx qazxsw qazxswedc qazxswedc123 qazxswedcvfr qpwoeiruty
qq123456789 quality quant4307s queenas8151 quicksilver quiksilver qwaszx qwaszxerdfcv qwe1234567 qwe123qwe123 qweasd
qweasdzxc qweasdzxc1 qweasdzxc12 qweasdzxc123 qweqwe qwerasdf qwerasdfzxcv qwert qwert12345 qwert54321 qwertasdfg
qwertasdfgzxcvb qwertgfdsa qwerttrewq qwerty qwerty1234 qwerty12345 qwerty123456 qwerty123456789 qwerty2010
qwertyasdfgh qwertyu qwertyu123 qwertyui qwertyuiop qwertyuiop1 qwertyuiop10 qwertyuiop12 qwertyuiop123
qwertyuiop12345 qwertyytrewq r3vi3wpass rabbit racecar racerx rachel racing ragnarok raider raiders rainbow rainforest
raistlin rammstein rammstein1 random randy ranger rangerover rangers raptor rascal rashley198 rattlesnake raven ravens
raymond razz realmadrid reanimator reaper rebecca rebels reddog redemption redhead redman redneck redrum redskins
redsox redwings reggie regina remember renegade rescue residentevil respublika revelation review reviewpass revolution
reymysterio rfcgthcrbq rfgecnfcerf rfhfrfnbwf rfhfvtkmrf rfkbajhybz rfkmrekznjh rfnfcnhjaf rfnfgekmnf rfnthbyf1988
rfrfirf rhbcnbyf rhbcnbyjxrf rhfcyjzhcr rhfvfnjhcr ricardo richard richardson richie richmond rick ripper riverplate
rjhjkmbien rjirfrgbde rjkjrjkmxbr rjntyjr rjycnbnewbz rjycnfynby rkfdbfnehf roadrunner robbie robert roberto robin
robinson rock rockandroll rockbottom rocker rocket rockhopper rockon rocks rockstar rocky rodney roflcopter roger
roland rolltide roman romanroman romeo rommel ronald ronaldinho ronaldinho10 ronaldo ronaldo123 ronnie rooster roscoe
rose rosebud rottweiler roxanne rubber rubberduck rulez runescape1 runner ruslan russell russia rusty ryan s123456789
s1a2s3h4a5 s456123789 sabine sabrina sacramento sadie safety sagittarius sailing sailor sailormoon saints sakura
salamander salamandra sally salmon samantha sammie sammy sampson samson samsung samsung123 samuel samurai sanandreas
sandiego sandman sandra sandy sanfrancisco santamaria santiago saqartvelo sarah sasha sasha12345 sataniv1993
satisfaction saturn saun24865709 savage savannah scandinavian scarface scarlet scarlett school schoolgirlie schumacher
scooby scoobydo scooter scorpio scorpion scotland scott scotty scoubidou2 scoubidou6 scruffy scully sdh686drth
sdicmt7seytn search seattle sebastia sebastian sebastian1 secret security seemnemaailm seinfeld selfok2013 seminole
semperfi seniseviyor septembe serega serena serendipity serenity sergeevich sergei sergey sergio sersolution server
service service321 sesame sevastopol seven sexmachine sexpistols sexsex sexual sexy shadow shadow1212 shaggy
shakespeare shalom shamanking shamrock shannon shark sharks sharon shasta shaved shazam sheila shelby shelbygt500
shelly sherlock sherman sherry shevchenko shiloh shirley shit shithappens shithead shogun shooter short shorty shotgun
showme showtime sidewinder sidney siemens sierra silenthill silver silverstone silvia simferopol simon simone simple
simpleplan simpson simpsons singer single sinner sirius sister sithlord skateboard skater skeeter skipper skippy
skittles skorpion39 skyline skywalke slapshot slayer slick slipknot slipknot666 slut sluts smallville smile smiles
smiley smith smitty smoke smoker smokey smooth snake snakes snapper snatch snickers sniper snoopy snowball snowman
snusmumrik sobaka soccer socrates softball software sojdlg123aljg soldier solidsnake solomon something1 sommer
sonnenschein sonyericsson sooners sophia sophie soso123aljg spam967888 spanking spanky sparky spartak spartak1922
spartan spartan117 special specialinsta specialist speed speedy spencer spider spiderma spiderman spiderman1
spiderman3 spike spirit spitfire spooky sports spring springfield springsteen sprint sprite spunky spyder squirrel
squirt srinivas ss6z2sw6lu stacey stalingrad stalker stalker123 stallion standard stanley star starcraft starcraft2
stardust stargate stars starscream startrek starwars starwars123 statistika stealth steamforums steelers stefan stella
stephani stephanie1 stephen sterling steve steven stevie stewart stickdaddy77 sticky stimpy stinger stingray stinky
stinkyfinger stocking stomatolog stone stonecol stonehenge stones storm stormy stranger stratocaster strawberry street
streetball strider strike stronghold stuart student studioworks studmuffin stupid subaru sublime subscriber success
suck sucker suckit suckme suckmycock suckmydick sucks sugar summer summertime sundance sunday sundaypunch sunderland
sunflower1 sunglasses sunny sunrise sunset sunshine sunshine69 super superduper superfly superman superman12
superman123 supermanboy supermario supernatural superpower superpuper supersonic supervisor support surfer surfing
susan sutvsc5ysaa suzanne suzuki svensps820 svetasveta svetlana swallow sweet sweetdream sweetdreams sweetheart
sweetie sweetiepie sweetpea sweetpussy sweets sweety swimming swinger swordfis swordfish sydney sylvia sylviahans
syncmaster system systemofadown t34vfrc1991 t5r4e3w2q1 table54781 tacobell tacoma tadmichaels tamara tamwsn3sja tanker
tanner target tarheel tarheels tarzan tattoo taurus taylor taylormade tazman tdfyutkbjy teacher technician techniques
techno technology teddy teen teens telecaster television tempest temppassword tennis tequila teresa terminator terry
test tester testing testing123 testtest texas thailand thanks thebeatles thecakeisalie thegame theman theone therock
thesimpsons thirteen13 thomas thompson throatfuck thuglife thugstools thumper thunder thunderbird thundercat
ticketmaster tickle tiffany tiger tigers tigertiger tigerwoods tigger timber timberlake timberland timberwolf time
timothy tina tinker tinkerbell tintin titanic titans titleist tits tokiohotel tombraider tomcat tommy tomtom tony
topgun tornado toronto toshiba tottenha tottenham1 toyota tracey trains trance transam transexual transformer
transformers translator travel travis trebor trevor trfnthbyf trigger trinity tristan triumph trixie trojan trombone
trooper trouble truck trucker trucks trumpet trunks trustnoone tucker tupacshakur turbo turkey turner turtle tweety
twilight twister tyler tylerca310 ublhjgjybrf ubnkthrfgen ubvyfcnbrf ufhhbgjnnth ujkjdjkjvrf ultimate unbelievable
uncencored undercover undergroun underground understand undertaker underwater underworld unforgiven unicorn uniqueness
united universidad university unreal userexecute usuckballz1 utyyflmtdyf v123456789 vacation vaffanculo vagina
valentin valentina valentinka valera valerie vampire vanessa vanhalen vanyarespekt vbhjndjhtw vegeta velvet
venom121293 verbatim veronica veronika vertigo verygoodbot vfhbyf vfhbyfvfhbyf vfhecz vfhufhbnrf vfhvtkflrf vflfufcrfh
vfntvfnbrf vfrcbv vfrcbvtyrj vfrcbvvfrcbv vfvfgfgf123 vfvfvskfhfve vfvjxrf vfylfhbyrf victor victoria victory video
viking vikings viktor villeneuve vincent vinogradov violet viper virgin virginia virtuagirl vision vitalik123 vladimir
vladimirovna vladislava vladivostok volkswagen volleyball volume voodoo voxstrange voyager vqsablpzla vsjasnel12
vyjujnjxbt w1w2w3w4w5 w2dlww3v5p wachtwoord walker walkman555 wallace wallstreet walnut walter wanker warcraft
warhammer40k warlock warren warrior warriors washington water waterfalls waterloo watermelon waters watson
wazzkaprivet wcrfxtvgbjy weasel webhompass websolutions websolutionssu webster webuivalidat weed weezer weihnachte
weihnachten weihnachtsbau weihnachtsbaum welcome welcome123 wellington wenef45313 werewolf werty12345 wesley western
westham westside wethepeople wetpussy whatever whatthefuck whatthehell wheels whiskey white whitepower whitney whore
whosyourdaddy whynot wicked widespread wildcat wildcats william williams willie willow wilson winchester window
windows winner winnie winnipeg261 winston winstonone winter wisdom wishmaster wizard wolf wolfgang wolfman wolfpack
wolverin wolverine wolverines wolves wombat women wonder wonderland wonderwall wonderwoman woody wookie wordpass world
wrangler wrestling1 wright writerspace wutang wwwooo1234 xavier xfiles xiaoyua123 xpressmusic xxxp455w0rd5 yamaha
yankee yankees yanshi1982 ybrbnf ybrjkftdbx ybrjkftdyf yellow yfcnhjtybt yfcnzyfcnz yfnfif yfnfitymrf yjdsqgfhjkm
yomama yoshimitsu young yvonne z123456789 z1x2c3v4b5 z1x2c3v4b5n6 z1x2c3v4b5n6m7 zachary zaq12wsxcde3 zaq1xsw2cde3
zaqwsx zaqwsxcderfv zaratustra zcfvfzkexifz zcxfcnkbdf zcxfcnkbdfz zeppelin zexts364325 zipper zjses9evpa zombie
zqjphsyf6ctifgu zx123456789 zxcasdqwe123 zxcvb12345 zxcvbasdfg zxcvbn zxcvbn123456 zxcvbn3215 zxcvbnm zxcvbnm123
zxcvbnm1234 zxcvbnm123456789 zxcvbnmmnbvcxz
`
    .trim()
    .split(/\s+/),
);
