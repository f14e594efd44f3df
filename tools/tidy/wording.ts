// Wording: patterns of private words, each with the standard term that replaces it.
import type { ProjectFile } from './project-files.ts';
import { codeProse, documentProse, guestProse, type Passage } from './prose.ts';

interface Pattern {
  /** Name of the pattern's row in allowed.txt. */
  readonly name: string;
  /** Matches every use; flags g and i. */
  readonly form: RegExp;
  readonly instead: string;
}

/** One use of a private word. */
export interface WordUse extends Pattern {
  readonly path: string;
  readonly line: number;
  readonly isTest: boolean;
}

const rows: readonly (readonly [name: string, form: RegExp, instead: string])[] = [
  ['told', /\btold\b/gi, 'reported, returned, logged or notified'],
  ['tells', /\btells?\b/gi, 'reports, returns, shows or identifies'],
  ['nobody', /\bnobody\b/gi, 'no client, no reader or the passive'],
  ['whoever', /\bwho(m)?ever\b/gi, 'the role: the caller, the sender'],
  ['somebody', /\b(some|any|every)body\b/gi, 'the role: a user, any caller'],
  ['whatever', /\bwhatever\b/gi, 'any or regardless of'],
  ['anew', /\b(anew|afresh)\b/gi, 'again, rebuilt or rewritten'],
  ['so-many', /\bso many\b/gi, 'the name of the limit, or this number of'],
  ['what-became-of', /\bwhat bec(ame|omes?) of\b/gi, 'result, status or outcome'],
  ['fate-of', /\bfate of\b/gi, 'status of'],
  ['let-go', /\blet go\b|\bletting the \w+ go\b/gi, 'release or truncate'],
  ['give-back', /\bg(ave|ives?|iven|iving) back\b/gi, 'free or return'],
  ['give-up', /\bg(ave|iven) up\b/gi, 'failed permanently or dead'],
  ['for-good', /\bfor (good|ever)\b/gi, 'permanently or without limit'],
  ['now-and-then', /\b(now and then|from time to time)\b/gi, 'periodically, with the interval'],
  ['lately', /\blately\b/gi, 'recently or recent'],
  ['is-no', /\b(is|are|was|were) no (?!longer|more|less|other)\w+/gi, 'is not a ...'],
  ['is-none', /\b(is|are) none\b|which there is not/gi, 'is not one, does not exist'],
  ['alone', /\balone\b/gi, 'only before the word'],
  ['beside', /\bbeside\b/gi, 'next to, with or concurrently with'],
  ['stands', /\bstands?\b/gi, 'is, is written or represents'],
  ['lies', /\b(lies?|lying)\b/gi, 'is or is stored'],
  ['hears-of', /\b(hears?|heard) of\b/gi, 'is notified of'],
  ['any-more', /\bany more\b/gi, 'no longer'],
  ['at-once', /\bat once\b/gi, 'immediately or at the same time'],
  ['under-way', /\bunder way\b/gi, 'in progress or in flight'],
  ['comes-in', /\b(comes?|came|coming) in\b/gi, 'arrives or is received'],
  ['hand-on', /\bhand(s|ed|ing)? (on|over|in|out|around)\b/gi, 'pass, submit or forward'],
  ['pass-over', /\b(pass(es|ed|ing)?|step(s|ped|ping)?) over\b/gi, 'skip'],
  ['goes-on', /\b(goes|go|going|went|gone) on\b/gi, 'continue or resume'],
  ['take-up', /\btak(es?|en|ing) up\b/gi, 'resume or retry'],
  ['is-to-be', /\b(is|are|was) to be\b/gi, 'must be or will be'],
  ['may-not', /\bmay not\b/gi, 'cannot or must not'],
  ['left-out', /\b(left|leaves?|leaving) out\b/gi, 'omit or skip'],
  ['of-its-own', /\bof (its|their|our) own\b/gi, 'own before the noun'],
  ['our-fault', /\bour (own )?(fault|mistake)\b/gi, 'internal error'],
  ['way-in', /\bways? (in|out)\b|\bdoors?\b/gi, 'input, transport or endpoint'],
  ['housekeeping', /\bhousekeeping\b|\bkeeps? house\b/gi, 'maintenance'],
  ['sign-of-life', /\bsigns? of life\b/gi, 'heartbeat'],
  ['dear', /\bdear\b/gi, 'expensive'],
  ['forget', /\bforg(et|ets|ot|otten|etting)\b/gi, 'delete, evict or discard'],
  ['wake', /\b(woken|wakes?|woke)\b/gi, 'notify, schedule or run'],
  ['look-at', /\blook(s|ed|ing)? at\b/gi, 'read, check or examine'],
  ['text', /\b(a )?texts?\b(?= (is|are|that|of|with|as)|[.,;:])|\ba text\b/gi, 'string'],
  ['made', /\b(is|are|was|were|be) made\b|\bMake an? /gi, 'create'],
  ['judge', /\bjudg(e|es|ed|ing)\b/gi, 'evaluate'],
];

export const wordingPatterns: readonly Pattern[] = rows.map(([name, form, instead]) => ({
  name,
  form,
  instead,
}));

/** The patterns themselves, and what the console says to its users, in two languages. */
const hasOtherWords = /^tools\/tidy\/wording\.ts$|^console\/src\/.*-words\.ts$/;

/** Every use of a private word in code and documents. This file lists the words and is not read. */
export function wordUses(root: string, files: readonly ProjectFile[]): WordUse[] {
  const code = files.filter((file) => !hasOtherWords.test(file.path));
  const [tests, others] = [code.filter((file) => file.isTest), code.filter((file) => !file.isTest)];
  return [
    ...usesIn([...others.flatMap(codeProse), ...guestProse(root), ...documentProse(root)], false),
    ...usesIn(tests.flatMap(codeProse), true),
  ];
}

function usesIn(passages: readonly Passage[], isTest: boolean): WordUse[] {
  return passages.flatMap((passage) =>
    wordingPatterns.flatMap((pattern) =>
      [...passage.text.matchAll(pattern.form)].map((match) => ({
        ...pattern,
        isTest,
        path: passage.path,
        line: passage.line + linesBefore(passage.text, match.index),
      })),
    ),
  );
}

function linesBefore(text: string, at: number): number {
  return text.slice(0, at).split('\n').length - 1;
}
