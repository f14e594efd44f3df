// Rule model: edits of inputs, conditions and actions, and the sentence that they make.
import { expect, test } from 'vitest';
import { editorWords } from './editor-words.ts';
import {
  bodyOf,
  editCondition,
  newRule,
  type RuleInput,
  withAction,
  withClearLimit,
  withCondition,
  withDuration,
  withInput,
  withLogicType,
  unusualExpression,
  unusualOf,
  withNewBlock,
  withOperandKind,
  withoutAction,
  withoutBlock,
  withoutCondition,
  withoutInput,
} from './rule-model.ts';
import { commonStart, sentenceOf } from './rule-sentence.ts';

const device = (id: string, name: string): RuleInput => {
  return { id, name, type: 'DEVICE', tagCombination: null, workspaceId: null };
};
const alarm = { id: 'a1', name: 'Leak', type: 'ALARM' };
const empty = newRule('Leaks');
const one = withInput(empty, device('d1', 'Leak Detector Boiler Room'));
const two = withInput(one, device('d2', 'Leak Detector Kitchen'));
const leaks = editCondition(two, 0, 0, {
  source: { dataKey: 'leak', valueType: 'BOOLEAN' },
  value: true,
});

test('the rule is said in one sentence', () => {
  const { en } = editorWords;
  expect(sentenceOf(empty, en)).toBe('Select a data key for this rule to compare.');
  expect(sentenceOf(withAction(leaks, alarm), en)).toBe(
    'When any of 2 leak detectors reports that leak is true, raise an alarm.',
  );
});

test('names without a common start share nothing', () => {
  expect(commonStart(['Room 1', 'Tracker'])).toBe('');
});

test('durations and the value that ends a rule are said, and follow its comparison', () => {
  const { en } = editorWords;
  const cold = editCondition(one, 0, 0, { source: { dataKey: 'temperature' }, value: 8 });
  const held = withClearLimit(withDuration(cold, 0, 'holdsFor', 'PT15M'), 0, 6);
  const begin = 'When Leak Detector Boiler Room reports that temperature is';
  expect(sentenceOf(withAction(held, alarm), en)).toBe(
    `${begin} above 8 for 15 min (until it is below 6), raise an alarm.`,
  );
  const below = editCondition(held, 0, 0, { operator: 'LT', value: 2 });
  expect(sentenceOf(withAction(below, alarm), en)).toBe(
    `${begin} below 2 for 15 min (until it is above 6), raise an alarm.`,
  );
  expect(bodyOf(below).logic.dataSources).toHaveLength(1);
  const plain = withClearLimit(withDuration(below, 0, 'holdsFor', ''), 0, undefined);
  expect(Object.keys(plain.logic.logicBlocks?.[0] ?? {}).sort()).toEqual([
    'actionIds',
    'conditions',
  ]);
});

test('a formula and an unusual value take the place of a data key, and are said in both languages', () => {
  const keyed = withAction(
    editCondition(one, 0, 0, { source: { dataKey: 'temperature' }, value: 8 }),
    alarm,
  );
  const formula = editCondition(withOperandKind(keyed, 0, 0, 'FORMULA'), 0, 0, {
    expression: 'temperature - prev(temperature)',
  });
  const begin = 'When Leak Detector Boiler Room reports that';
  expect(sentenceOf(formula, editorWords.en)).toBe(
    `${begin} temperature - prev(temperature) is above 8, raise an alarm.`,
  );
  expect(formula.logic.logicBlocks?.[0]?.conditions[0]?.operandFirst).toMatchObject({
    type: 'EXPRESSION',
    expression: 'temperature - prev(temperature)',
    valueType: 'NUMERICAL',
  });
  const unusual = withDuration(withOperandKind(keyed, 0, 0, 'UNUSUAL'), 0, 'holdsFor', 'PT1H');
  expect(sentenceOf(unusual, editorWords.en)).toBe(
    `${begin} temperature is unusual for 1 h, raise an alarm.`,
  );
  expect(sentenceOf(unusual, editorWords.de)).toBe(
    'Wenn Leak Detector Boiler Room meldet: temperature ist ungewöhnlich seit 1 h, dann einen Alarm auslösen.',
  );
  const [condition] = unusual.logic.logicBlocks?.[0]?.conditions ?? [];
  expect(condition).toMatchObject({
    operandFirst: { expression: 'unusual(temperature, "MEDIUM")', valueType: 'BOOLEAN' },
    operator: 'EQ',
    operandSecond: { value: true },
  });
  const back = withOperandKind(unusual, 0, 0, 'KEY');
  expect(sentenceOf(back, editorWords.en)).toBe(
    `${begin} temperature is above 0 for 1 h, raise an alarm.`,
  );
  expect(back.logic.logicBlocks?.[0]?.conditions[0]?.operandFirst).not.toHaveProperty('expression');
});

test.each(['temperature', 'pm2.5', 'a "b" \\ c'])('%s can be unusual', (key) => {
  expect(unusualOf(unusualExpression(key, 'HIGH'))).toEqual({ key, sensitivity: 'HIGH' });
});

test('a rule of silence is said too, and becomes one that compares again', () => {
  const { en } = editorWords;
  const silent = withAction(withLogicType(two, 'SILENCE'), alarm);
  expect(sentenceOf(silent, en)).toBe(
    'When any of 2 leak detectors has sent nothing for 30 min, raise an alarm.',
  );
  expect(silent.logic).toMatchObject({ dataSources: [], silenceLogicBlock: { actionIds: ['a1'] } });
  expect(withoutAction(silent, 'a1').logic.silenceLogicBlock?.actionIds).toEqual([]);
  const compares = withLogicType(silent, 'COMPARISON');
  expect(compares.logic.silenceLogicBlock).toBeUndefined();
  expect(compares.logic.logicBlocks?.[0]?.actionIds).toEqual(['a1']);
});

test('every source reads every input, and a second time changes nothing', () => {
  expect(leaks.logic.dataSources.map(({ inputIds }) => inputIds)).toEqual([['d1', 'd2']]);
  expect(withInput(leaks, device('d2', 'Again'))).toBe(leaks);
  expect(withoutInput(leaks, 'd1').logic.dataSources[0]?.inputIds).toEqual(['d2']);
});

test('the value follows the type of the key, and only numbers have an order', () => {
  const [condition] = leaks.logic.logicBlocks?.[0]?.conditions ?? [];
  expect(condition).toMatchObject({
    operator: 'EQ',
    operandSecond: { value: true, valueType: 'BOOLEAN' },
  });
  const text = editCondition(leaks, 0, 0, { source: { valueType: 'STRING' }, value: 'open' });
  expect(text.logic.logicBlocks?.[0]?.conditions[0]?.operandSecond.value).toBe('open');
});

test('conditions are chained, and the last one has no chain', () => {
  const more = withCondition(leaks, 0);
  const chains = (rule: typeof more) =>
    rule.logic.logicBlocks?.[0]?.conditions.map(({ chainOperator }) => chainOperator);
  expect(chains(more)).toEqual(['AND', null]);
  const less = withoutCondition(more, 0, 0);
  expect(chains(less)).toEqual([null]);
  expect(less.logic.dataSources).toHaveLength(1);
  expect(withoutCondition(less, 0, 0)).toBe(less);
});

test('an action is fired by every block and leaves every block', () => {
  const acting = withAction(withNewBlock(leaks), alarm);
  expect(acting.logic.logicBlocks?.map(({ actionIds }) => actionIds)).toEqual([['a1'], ['a1']]);
  expect(bodyOf(acting).actions).toEqual([{ id: 'a1' }]);
  expect(withoutBlock(acting, 1).logic.dataSources).toHaveLength(1);
  expect(withoutAction(acting, 'a1').logic.logicBlocks?.map(({ actionIds }) => actionIds)).toEqual([
    [],
    [],
  ]);
});
