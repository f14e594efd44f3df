// Calculation page: a new group calculation, or one with its progress: what is combined, where it goes, and a preview.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Plus, X } from 'lucide-react';
import { faultAt, faultsOf, type FieldFaults } from '../../../api/field-faults.ts';
import { ask, platform } from '../../../api/platform.ts';
import { tagsOf } from '../../../api/workspace-records.ts';
import { ActionFailure } from '../../../ui/action-failure.tsx';
import { Ago } from '../../../ui/ago.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CurlButton } from '../../../ui/copy-button.tsx';
import { DataTable } from '../../../ui/data-table.tsx';
import { DevicePick } from '../../../ui/device-pick.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { NameFields } from '../../../ui/name-fields.tsx';
import { Page } from '../../../ui/page.tsx';
import { RemoveRecord } from '../../../ui/remove-record.tsx';
import { Answered, Bone } from '../../../ui/states.tsx';
import { UnsavedBar } from '../../../ui/unsaved-bar.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useEditor } from '../../../ui/use-editor.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { accumulatorNames } from '../../device/explore/explore-search.ts';
import {
  acrossNames,
  bodyOf,
  type Calculation,
  type CalculationFields,
  calculationOf,
  countNames,
  fieldsOf,
  newCalculation,
  newOutput,
  type OutputFields,
  outputKinds,
  periods,
  type Preview,
} from './calculation-draft.ts';
import { CalculationChip, periodText } from './calculation-list.tsx';
import { calculationWords } from './calculation-words.ts';
import styles from './calculations.module.css';

const route = '/signed-in/shell/w/$workspaceId/rules/calculations/$calculationId';
const newRoute = '/signed-in/shell/w/$workspaceId/rules/calculations/new';
const previewed = 24;

export function NewCalculation() {
  const words = useWords(calculationWords);
  const { workspaceId } = useParams({ from: newRoute });
  const navigate = useNavigate();
  const editor = useEditor<CalculationFields, Calculation>({
    key: `new calculation ${workspaceId}`,
    saved: newCalculation,
    list: ['calculations'],
    send: (fields) =>
      ask(platform.POST('/v3/calculations', { body: { ...bodyOf(fields), workspaceId } })),
    onSaved: ({ id: calculationId }) =>
      navigate({
        to: '/w/$workspaceId/rules/calculations/$calculationId',
        params: { workspaceId, calculationId },
        ignoreBlocker: true,
      }),
  });
  return (
    <Page isWide title={words.add} name={words.add} path={[<ListLink key="list" />, words.add]}>
      <Fields {...editor} workspaceId={workspaceId} />
      <UnsavedBar needs="rule: create" editor={editor} createLabel={words.add} />
    </Page>
  );
}

export function CalculationPage() {
  const words = useWords(calculationWords);
  const { calculationId } = useParams({ from: route });
  const calculation = useQuery(calculationOf(calculationId));
  const path = `/v3/calculations/${calculationId}`;
  const name = calculation.data?.name ?? words.title;
  return (
    <Page
      isWide
      title={calculation.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[<ListLink key="list" />, name]}
      lead={
        calculation.data === undefined ? (
          <Bone />
        ) : (
          <CalculationChip calculation={calculation.data} />
        )
      }
      actions={<CurlButton request={{ path }} />}
    >
      <Answered answer={calculation} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => (
          <>
            <Progress calculation={found} />
            <CalculationEditor key={found.id} calculation={found} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function ListLink() {
  const words = useWords(calculationWords);
  const { workspaceId } = useParams({ strict: false });
  if (workspaceId === undefined) return words.title;
  return (
    <Link to="/w/$workspaceId/rules/calculations" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
}

function Progress({ calculation: { progress } }: { readonly calculation: Calculation }) {
  const words = useWords(calculationWords);
  const { instant, duration, count } = useFormats();
  const { computedTo, computedAt, lagSeconds, late, error, errorAt } = progress;
  return (
    <Card title={words.progress} isPadded>
      <dl className={styles['facts']}>
        <dt>{words.computedTo}</dt>
        <dd>{computedTo === null ? words.waiting : instant(computedTo)}</dd>
        <dt>{words.computedAt}</dt>
        <dd>{computedAt === null ? words.waiting : <Ago at={computedAt} />}</dd>
        <dt>{words.lag}</dt>
        <dd>{lagSeconds === 0 ? words.none : duration(lagSeconds)}</dd>
        <dt>{words.late}</dt>
        <dd className="num">{count(late)}</dd>
        <dt>{words.lastError}</dt>
        <dd>
          {error ?? words.none} {errorAt !== null && <Ago at={errorAt} />}
        </dd>
      </dl>
    </Card>
  );
}

function CalculationEditor({ calculation }: { readonly calculation: Calculation }) {
  const words = useWords(calculationWords);
  const { id, name, workspaceId, version } = calculation;
  const editor = useEditor<CalculationFields, Calculation>({
    key: `calculation ${id}`,
    saved: fieldsOf(calculation),
    version,
    record: calculationOf(id).queryKey,
    list: ['calculations'],
    send: (fields, from) => {
      const body = { ...bodyOf(fields), ...from };
      return ask(platform.PUT('/v3/calculations/{id}', { params: { path: { id } }, body }));
    },
  });
  return (
    <>
      <Fields {...editor} workspaceId={workspaceId} />
      <p className="mute">{words.recomputed}</p>
      <UnsavedBar needs="rule: update" editor={editor}>
        <RemoveRecord
          needs="rule: delete"
          name={name}
          note={words.removeNote}
          send={() => ask(platform.DELETE('/v3/calculations/{id}', { params: { path: { id } } }))}
          discard={editor.discard}
          lists={[['calculations']]}
          next={{ to: '/w/$workspaceId/rules/calculations', params: { workspaceId } }}
        />
      </UnsavedBar>
    </>
  );
}

// Fields.

interface FieldsProps {
  readonly workspaceId: string;
  readonly value: CalculationFields;
  readonly change: (fields: CalculationFields) => void;
  readonly error: Error | null;
}

function Fields({ workspaceId, value, change, error }: FieldsProps) {
  const words = useWords(calculationWords);
  const faults = faultsOf(error);
  const parts = { workspaceId, value, change, faults };
  return (
    <>
      <div className={`columns gap-16 align-start ${styles['halves']}`}>
        <NameFields draft={value} change={change} faults={faults} />
      </div>
      <CheckField
        label={words.active}
        isOn={value.active}
        change={(active) => change({ ...value, active })}
      />
      <div className={`columns gap-16 align-start ${styles['halves']}`}>
        <Devices {...parts} />
        <Target {...parts} />
      </div>
      <Outputs {...parts} />
      <PreviewCard workspaceId={workspaceId} value={value} />
    </>
  );
}

interface PartProps {
  readonly workspaceId: string;
  readonly value: CalculationFields;
  readonly change: (fields: CalculationFields) => void;
  readonly faults: FieldFaults;
}

function Devices({ workspaceId, value, change, faults }: PartProps) {
  const words = useWords(calculationWords);
  const { count } = useFormats();
  const tags = useQuery(tagsOf(workspaceId)).data?.content ?? [];
  const { deviceIds, tagId, topic, period, timeZone } = value;
  const choices: readonly string[] = periods.some((one) => one === period)
    ? periods
    : [...periods, period];
  return (
    <Card title={words.devices} note={words.devicesNote} isPadded>
      <div className="stack gap-16">
        <SelectField
          label={words.tag}
          value={tagId}
          error={faultAt(faults, 'tagId')}
          hint={
            deviceIds === null ? undefined : words.named(count(deviceIds.length), deviceIds.length)
          }
          onChange={({ currentTarget }) => {
            const id = currentTarget.value;
            change({ ...value, tagId: id, deviceIds: id === '' ? deviceIds : null });
          }}
        >
          <option value="">{words.chooseTag}</option>
          {tags.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label={words.topic}
          value={topic}
          error={faultAt(faults, 'topic')}
          spellCheck={false}
          onChange={({ currentTarget }) => change({ ...value, topic: currentTarget.value })}
        />
        <SelectField
          label={words.period}
          value={period}
          error={faultAt(faults, 'period')}
          onChange={({ currentTarget }) => change({ ...value, period: currentTarget.value })}
        >
          {choices.map((one) => (
            <option key={one} value={one}>
              {periodText(one, words.periods)}
            </option>
          ))}
        </SelectField>
        <TextField
          label={words.timeZone}
          hint={words.timeZoneHint}
          value={timeZone}
          error={faultAt(faults, 'timeZone')}
          spellCheck={false}
          onChange={({ currentTarget }) => change({ ...value, timeZone: currentTarget.value })}
        />
      </div>
    </Card>
  );
}

function Target({ workspaceId, value, change, faults }: PartProps) {
  const words = useWords(calculationWords);
  const { target, targetTopic } = value;
  const known = useQuery({
    queryKey: ['device', target],
    enabled: target !== '',
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/devices/{id}', { signal, params: { path: { id: target } } })),
  });
  const fault = faultAt(faults, 'target.deviceId') ?? faultAt(faults, 'target');
  return (
    <Card title={words.target} note={words.targetNote} isPadded>
      <div className="stack gap-16">
        <DevicePick
          workspaceId={workspaceId}
          label={words.device}
          chosen={known.data?.name ?? target}
          choose={({ id }) => change({ ...value, target: id })}
        />
        {fault !== undefined && (
          <p role="alert" data-fault>
            {fault}
          </p>
        )}
        <TextField
          label={words.targetTopic}
          value={targetTopic}
          error={faultAt(faults, 'target.topic')}
          spellCheck={false}
          onChange={({ currentTarget }) => change({ ...value, targetTopic: currentTarget.value })}
        />
      </div>
    </Card>
  );
}

function Outputs({ value, change, faults }: PartProps) {
  const words = useWords(calculationWords);
  const { outputs } = value;
  const put = (next: readonly OutputFields[]) => change({ ...value, outputs: next });
  const add = (
    <Button look="ghost" onClick={() => put([...outputs, newOutput])}>
      <Plus aria-hidden="true" />
      {words.addOutput}
    </Button>
  );
  return (
    <Card title={words.outputs} note={words.outputsNote} actions={add}>
      <ul className={`divided ${styles['outputs']}`}>
        {outputs.map((output, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- a key is renamed while it is edited
          <li key={at}>
            <OutputRow
              output={output}
              faultOf={(member) => faultAt(faults, `outputs.${at}${member}`)}
              change={(next) => put(outputs.with(at, next))}
            />
            {outputs.length > 1 && (
              <Button
                look="ghost"
                isIcon
                aria-label={words.removeOutput(output.key)}
                onClick={() => put(outputs.toSpliced(at, 1))}
              >
                <X aria-hidden="true" />
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface OutputRowProps {
  readonly output: OutputFields;
  /** What is wrong with a member. */
  readonly faultOf: (member: string) => string | undefined;
  readonly change: (output: OutputFields) => void;
}

function OutputRow({ output, faultOf, change }: OutputRowProps) {
  const words = useWords(calculationWords);
  const { key, kind, count } = output;
  return (
    <div className={styles['row']}>
      <TextField
        label={words.key}
        value={key}
        error={faultOf('.key') ?? faultOf('')}
        spellCheck={false}
        onChange={({ currentTarget }) => change({ ...output, key: currentTarget.value })}
      />
      <SelectField
        label={words.kind}
        value={kind}
        onChange={({ currentTarget }) => {
          const chosen = outputKinds.find((one) => one === currentTarget.value) ?? 'key';
          change({ ...output, kind: chosen });
        }}
      >
        {outputKinds.map((one) => (
          <option key={one} value={one}>
            {words.kinds[one]}
          </option>
        ))}
      </SelectField>
      {kind === 'count' ? (
        <SelectField
          label={words.count}
          value={count}
          onChange={({ currentTarget }) => {
            const chosen = countNames.find((one) => one === currentTarget.value) ?? count;
            change({ ...output, count: chosen });
          }}
        >
          {countNames.map((one) => (
            <option key={one} value={one}>
              {words.counts[one]}
            </option>
          ))}
        </SelectField>
      ) : (
        <ReadFields output={output} faultOf={faultOf} change={change} />
      )}
    </div>
  );
}

/** What is read: a data key or a formula, and how the values of the devices are combined. */
function ReadFields({ output, faultOf, change }: OutputRowProps) {
  const words = useWords(calculationWords);
  const { kind, text, accumulator, across } = output;
  const names: readonly string[] = accumulatorNames;
  const shown = names.includes(accumulator) ? names : [...names, accumulator];
  return (
    <>
      <TextField
        label={kind === 'key' ? words.dataKey : words.formula}
        value={text}
        error={faultOf('.expression') ?? faultOf('.each.expression') ?? faultOf('.each.dataKey')}
        spellCheck={false}
        onChange={({ currentTarget }) => change({ ...output, text: currentTarget.value })}
      />
      {kind !== 'over' && (
        <>
          <SelectField
            label={words.accumulator}
            value={accumulator}
            error={faultOf('.each.accumulator') ?? faultOf('.each.state')}
            onChange={({ currentTarget }) =>
              change({ ...output, accumulator: currentTarget.value })
            }
          >
            {shown.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </SelectField>
          <SelectField
            label={words.across}
            value={across}
            onChange={({ currentTarget }) => {
              const chosen = acrossNames.find((one) => one === currentTarget.value) ?? across;
              change({ ...output, across: chosen });
            }}
          >
            {acrossNames.map((one) => (
              <option key={one} value={one}>
                {words.acrossNames[one]}
              </option>
            ))}
          </SelectField>
        </>
      )}
    </>
  );
}

// Preview.

function PreviewCard({
  workspaceId,
  value,
}: {
  readonly workspaceId: string;
  readonly value: CalculationFields;
}) {
  const words = useWords(calculationWords);
  const compute = useAction<Preview>({
    mutationFn: () => {
      const calculation = { ...bodyOf(value), workspaceId };
      const body = { calculation, periods: previewed };
      return ask(platform.POST('/v3/calculations/preview', { body }));
    },
  });
  const run = (
    <Button look="ghost" disabled={compute.isPending} onClick={() => compute.mutate()}>
      {words.run}
    </Button>
  );
  return (
    <Card title={words.preview} note={words.previewNote} actions={run}>
      <ActionFailure error={compute.error} />
      {compute.data !== undefined && <Previewed preview={compute.data} />}
    </Card>
  );
}

function Previewed({ preview }: { readonly preview: Preview }) {
  const words = useWords(calculationWords);
  const { instant, count, value } = useFormats();
  const { devices, complete } = preview;
  const keys = [...new Set(preview.periods.flatMap(({ data }) => Object.keys(data ?? {})))];
  const shown = (cell: unknown) => (typeof cell === 'number' ? value(cell) : String(cell ?? '–'));
  return (
    <>
      <p className={styles['note']}>{words.previewed(count(devices), devices)}</p>
      {!complete && <p className={styles['note']}>{words.incomplete}</p>}
      <DataTable
        label={words.computed}
        columns={[
          { key: '', header: words.start, cell: ({ timestamp }) => instant(timestamp) },
          ...keys.map((key) => ({
            key,
            header: key,
            cell: ({ data }: Preview['periods'][number]) => (
              <span className="num">{shown(data?.[key])}</span>
            ),
          })),
        ]}
        rows={preview.periods.toReversed()}
        keyOf={({ timestamp }) => timestamp}
      />
    </>
  );
}
