// Rule sentence: the whole rule said as one, so that it is read before it is studied.
import { duration, secondsOfIso } from '../../words/formats.ts';
import type { EditorWords } from './editor-words.ts';
import {
  blocksOf,
  clearLimitOf,
  type RuleBlock,
  type RuleCondition,
  type RuleDraft,
  sourceOf,
  unusualOf,
} from './rule-model.ts';

export function sentenceOf(rule: RuleDraft, words: EditorWords): string {
  const { silenceLogicBlock: silence } = rule.logic;
  if (silence !== undefined) {
    const { after, mode } = silence;
    const time = after === null ? words.ownTimeout : duration(secondsOfIso(after) ?? 0);
    const isGroup = mode === 'ALL' && (rule.inputs.length > 1 || rule.inputs[0]?.type !== 'DEVICE');
    const who = isGroup ? words.everyDevice : inputsSaid(rule, words);
    return words.silenceSentence(who, time, actionsSaid(rule, words));
  }
  const conditions = blocksOf(rule).flatMap((block) => block.conditions);
  if (!conditions.every((condition) => hasKeys(rule, condition))) return words.noKeyYet;
  const sentence = words.sentence(
    inputsSaid(rule, words),
    conditionSaid(rule, words),
    actionsSaid(rule, words),
  );
  const { enabled, type, schedule } = rule.timer;
  if (!enabled || type === null) return sentence;
  return words.timed(`${words.timerTypes[type]} ${schedule ?? ''}`, sentence);
}

function inputsSaid({ inputs }: RuleDraft, words: EditorWords): string {
  const [first] = inputs;
  if (first === undefined) return words.noInput;
  if (inputs.length > 1)
    return words.anyOf(inputs.length, commonStart(inputs.map(({ name }) => name ?? '')));
  if (first.type === 'DEVICE') return first.name ?? first.id;
  if (first.type === 'PLACE') return words.atPlace(first.name ?? first.id);
  return words.withTag(first.name ?? first.id);
}

/** The first words that all names share: `Leak Detector` of two leak detectors. */
export function commonStart(names: readonly string[]): string {
  const [first = '', ...others] = names;
  const split = first.split(' ');
  let shared = split.length;
  for (const name of others) {
    const parts = name.split(' ');
    let same = 0;
    while (same < shared && split[same] === parts[same]) same++;
    shared = same;
  }
  return split.slice(0, shared).join(' ');
}

function conditionSaid(rule: RuleDraft, words: EditorWords): string {
  if (rule.logic.type === 'GEO_FENCE') return words.leaves;
  if (rule.logic.type === 'CUSTOM_LOGIC') return words.decides;
  return blocksOf(rule)
    .map((block) => blockSaid(rule, block, words))
    .join(` ${words.or} `);
}

/** A block's conditions, as in `leak is true and battery is below 20`. */
function blockSaid(rule: RuleDraft, block: RuleBlock, words: EditorWords): string {
  const said = block.conditions
    .map((condition) => {
      const { key, operator, value } = partsOf(rule, condition, words);
      const chain =
        condition.chainOperator === null ? '' : ` ${words.chains[condition.chainOperator]} `;
      return `${[key, operator, value].filter(Boolean).join(' ')}${chain}`;
    })
    .join('');
  const { holdsFor, clearConditions, clearsFor } = block;
  const limit = clearLimitOf(block);
  const [end] = clearConditions ?? [];
  const seconds = (iso: string) => duration(secondsOfIso(iso) ?? 0);
  return [
    said,
    holdsFor && words.saidFor(seconds(holdsFor)),
    limit !== undefined && end && words.saidUntil(`${words.operators[end.operator]} ${limit}`),
    limit === undefined && end && words.saidUntilOther,
    clearsFor && words.saidClear(seconds(clearsFor)),
  ]
    .filter(Boolean)
    .join('');
}

/** The three words of a condition. */
export function partsOf(rule: RuleDraft, condition: RuleCondition, words: EditorWords) {
  const { operandFirst, operator, operandSecond } = condition;
  const unusual = unusualOf(operandFirst.expression ?? '');
  const isTrue = operator === 'EQ' && operandSecond.value === true;
  if (unusual !== undefined && isTrue)
    return { key: unusual.key, operator: words.unusuals[unusual.sensitivity], value: '' };
  const value =
    operandSecond.type === 'CONSTANT' ? String(operandSecond.value) : keyOf(rule, operandSecond);
  return { key: keyOf(rule, operandFirst), operator: words.operators[operator], value };
}

/** Whether the condition names what it compares. */
export function hasKeys(rule: RuleDraft, { operandFirst, operandSecond }: RuleCondition): boolean {
  const isNamed = (operand: RuleCondition['operandFirst']) =>
    operand.type === 'CONSTANT' || keyOf(rule, operand) !== '';
  return isNamed(operandFirst) && isNamed(operandSecond);
}

function keyOf(rule: RuleDraft, operand: RuleCondition['operandFirst']): string {
  if (operand.type === 'EXPRESSION')
    return unusualOf(operand.expression ?? '')?.key === '' ? '' : (operand.expression ?? '');
  return operand.dataKey ?? sourceOf(rule, operand)?.dataKey ?? '';
}

function actionsSaid({ actions }: RuleDraft, words: EditorWords): string {
  if (actions.length === 0) return words.nothingDone;
  const acts: Readonly<Record<string, string>> = words.acts;
  const said = new Set(actions.map(({ name, type }) => acts[type] ?? words.act(name)));
  return [...said].join(` ${words.and} `);
}
