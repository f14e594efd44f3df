// Condition form: topic, key, comparison and value, with the keys that the devices sent.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useId } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import {
  blocksOf,
  type ConditionEdit,
  editCondition,
  type LaneProps,
  operandKindOf,
  operandKinds,
  operators,
  type RuleCondition,
  type RuleDraft,
  sensitivities,
  sourceOf,
  unusualExpression,
  unusualOf,
  type ValueType,
  withOperandKind,
  withoutCondition,
} from './rule-model.ts';
import styles from './rules.module.css';

interface ConditionProps extends LaneProps {
  readonly condition: RuleCondition;
  readonly at: number;
  readonly place: number;
}

export function ConditionForm(props: ConditionProps) {
  const { rule, change, condition, at, place } = props;
  const words = useWords(editorWords);
  const lists = useId();
  const keys = useKnownKeys(rule);
  const source = sourceOf(rule, condition.operandFirst);
  if (source === undefined) return null;
  const edit = (edited: ConditionEdit) => change(editCondition(rule, at, place, edited));
  const kind = operandKindOf(condition);
  const unusual =
    kind === 'UNUSUAL' ? unusualOf(condition.operandFirst.expression ?? '') : undefined;
  const setKey = (dataKey: string) => {
    if (unusual !== undefined) {
      const expression = unusualExpression(dataKey, unusual.sensitivity);
      return edit({ source: { dataKey }, expression });
    }
    const valueType = keys.get(`${source.dataTopic} ${dataKey}`);
    edit({ source: { dataKey, ...(valueType === undefined ? {} : { valueType }) } });
  };
  const known = [...keys.keys()].map((key) => key.split(' '));
  return (
    <div className={styles['fields']}>
      <TextField
        label={words.topic}
        list={`${lists}-topics`}
        value={source.dataTopic}
        onChange={({ currentTarget }) => edit({ source: { dataTopic: currentTarget.value } })}
      />
      <SelectField
        label={words.operand}
        value={kind}
        onChange={({ currentTarget }) => {
          const chosen = operandKinds.find((one) => one === currentTarget.value) ?? 'KEY';
          change(withOperandKind(rule, at, place, chosen));
        }}
      >
        {operandKinds.map((one) => (
          <option key={one} value={one}>
            {words.operandKinds[one]}
          </option>
        ))}
      </SelectField>
      {kind === 'FORMULA' ? (
        <Formula expression={condition.operandFirst.expression ?? ''} edit={edit} />
      ) : (
        <TextField
          label={words.key}
          list={`${lists}-keys`}
          hint={words.keyHint}
          value={unusual?.key ?? source.dataKey}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
      )}
      <datalist id={`${lists}-topics`}>
        {[...new Set(known.map(([topic]) => topic))].map((topic) => (
          <option key={topic} value={topic}>
            {topic}
          </option>
        ))}
      </datalist>
      <datalist id={`${lists}-keys`}>
        {known.map(
          ([topic, key]) =>
            topic === source.dataTopic && (
              <option key={key} value={key}>
                {key}
              </option>
            ),
        )}
      </datalist>
      {unusual === undefined ? (
        <Comparison {...props} valueType={source.valueType} edit={edit} />
      ) : (
        <SelectField
          label={words.sensitivity}
          hint={words.unusualNote}
          value={unusual.sensitivity}
          onChange={({ currentTarget }) => {
            const chosen = sensitivities.find((one) => one === currentTarget.value) ?? 'MEDIUM';
            edit({ expression: unusualExpression(unusual.key, chosen) });
          }}
        >
          {sensitivities.map((one) => (
            <option key={one} value={one}>
              {words.sensitivities[one]}
            </option>
          ))}
        </SelectField>
      )}
      {place + 1 < (blocksOf(rule)[at]?.conditions.length ?? 0) && (
        <SelectField
          label={words.chain}
          value={condition.chainOperator ?? 'AND'}
          onChange={({ currentTarget }) =>
            edit({ chainOperator: currentTarget.value === 'OR' ? 'OR' : 'AND' })
          }
        >
          <option value="AND">{words.chains.AND}</option>
          <option value="OR">{words.chains.OR}</option>
        </SelectField>
      )}
      {(blocksOf(rule)[at]?.conditions.length ?? 0) > 1 && (
        <span>
          <Button onClick={() => change(withoutCondition(rule, at, place))}>
            {words.removeCondition}
          </Button>
        </span>
      )}
    </div>
  );
}

interface FormulaProps {
  readonly expression: string;
  readonly edit: (edit: ConditionEdit) => void;
}

/** The platform checks it while it is typed; an error says where. */
function Formula({ expression, edit }: FormulaProps) {
  const words = useWords(editorWords);
  const typed = useDeferredValue(expression);
  const check = useQuery({
    queryKey: ['expression', typed],
    enabled: typed !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const body = { expression: typed };
      const { error } = await ask(platform.POST('/v3/expressions/check', { signal, body }));
      return { error: error === null ? undefined : `${error.message} (${error.position + 1})` };
    },
  });
  return (
    <TextField
      label={words.formula}
      hint={words.formulaHint}
      maxLength={2_000}
      spellCheck={false}
      value={expression}
      error={typed === '' ? undefined : check.data?.error}
      onChange={({ currentTarget }) => edit({ expression: currentTarget.value })}
    />
  );
}

const kinds: readonly ValueType[] = ['NUMERICAL', 'BOOLEAN', 'STRING'];

interface ComparisonProps {
  readonly condition: RuleCondition;
  readonly valueType: ValueType;
  readonly edit: (edit: ConditionEdit) => void;
}

function Comparison({ condition, valueType, edit }: ComparisonProps) {
  const words = useWords(editorWords);
  const { operator, operandSecond } = condition;
  const possible = valueType === 'NUMERICAL' ? operators : operators.slice(0, 2);
  const shown = possible.includes(operator) ? possible : [...possible, operator];
  return (
    <>
      <SelectField
        label={words.kind}
        value={valueType}
        onChange={({ currentTarget }) =>
          edit({
            source: { valueType: kinds.find((one) => one === currentTarget.value) ?? 'STRING' },
          })
        }
      >
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {words.kinds[kind]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.comparison}
        value={operator}
        onChange={({ currentTarget }) =>
          edit({ operator: shown.find((one) => one === currentTarget.value) ?? operator })
        }
      >
        {shown.map((one) => (
          <option key={one} value={one}>
            {words.operators[one]}
          </option>
        ))}
      </SelectField>
      {operandSecond.type === 'CONSTANT' && (
        <ValueField valueType={valueType} value={operandSecond.value} edit={edit} />
      )}
    </>
  );
}

interface ValueFieldProps {
  readonly valueType: ValueType;
  readonly value: unknown;
  readonly edit: (edit: ConditionEdit) => void;
}

function ValueField({ valueType, value, edit }: ValueFieldProps) {
  const words = useWords(editorWords);
  if (valueType === 'BOOLEAN')
    return (
      <SelectField
        label={words.value}
        value={String(value)}
        onChange={({ currentTarget }) => edit({ value: currentTarget.value === 'true' })}
      >
        <option value="true">true</option>
        <option value="false">false</option>
      </SelectField>
    );
  const isNumber = valueType === 'NUMERICAL';
  return (
    <TextField
      label={words.value}
      {...(isNumber ? { type: 'number', step: 'any' } : {})}
      defaultValue={String(value)}
      onChange={({ currentTarget }) => {
        const { value: typed, valueAsNumber } = currentTarget;
        if (!isNumber) edit({ value: typed });
        else if (Number.isFinite(valueAsNumber)) edit({ value: valueAsNumber });
      }}
    />
  );
}

const typesOf: Readonly<Record<string, ValueType>> = {
  number: 'NUMERICAL',
  integer: 'NUMERICAL',
  boolean: 'BOOLEAN',
  string: 'STRING',
};

/** Keys that the first device of the rule sent, as `topic key`, with the kind of their values. */
function useKnownKeys({ inputs }: RuleDraft): ReadonlyMap<string, ValueType> {
  const deviceId = inputs.find(({ type }) => type === 'DEVICE')?.id;
  const schema = useQuery({
    queryKey: ['keys', deviceId],
    enabled: deviceId !== undefined,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const params = { path: { deviceId: deviceId ?? '' } };
      const topics = await ask(
        platform.GET('/v3/devices/{deviceId}/infer-schema', { signal, params }),
      );
      const keys = new Map<string, ValueType>();
      for (const [topic, { properties }] of Object.entries(topics))
        for (const [key, { type = '' }] of Object.entries(properties as Properties))
          keys.set(`${topic} ${key}`, typesOf[type] ?? 'STRING');
      return keys;
    },
  });
  return schema.data ?? noKeys;
}

/** What a JSON Schema says of the keys of a topic. */
type Properties = Readonly<Record<string, { readonly type?: string }>>;

const noKeys: ReadonlyMap<string, ValueType> = new Map();
