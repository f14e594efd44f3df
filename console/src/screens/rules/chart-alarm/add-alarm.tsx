// Add alarm: a limit that is clicked into the chart of a value, who is mailed, and how often it would have triggered (contract 39.4).
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { aboutQuery, ask, platform } from '../../../api/platform.ts';
import { alarmSeverities } from '../../../api/alarms.ts';
import { onCallOrders } from '../../../api/on-call.ts';
import { LineChart } from '../../../charts/line-chart.tsx';
import { useMay } from '../../../session/permissions.ts';
import { useAccount } from '../../../session/session.ts';
import { Button } from '../../../ui/button.tsx';
import { FormDialog } from '../../../ui/dialog.tsx';
import { MinutesField, SelectField, TextField } from '../../../ui/field.tsx';
import { severityWords } from '../../../ui/severity-words.ts';
import { Bone, Empty, Failure } from '../../../ui/states.tsx';
import { keepDraft } from '../../../ui/use-editor.ts';
import { useFormSave } from '../../../ui/use-form-save.ts';
import { useSettledValue } from '../../../ui/use-settled-value.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { bucketFor, isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { withGaps } from '../../../../../src/dashboards/plot.ts';
import { deviceQuery, seriesQuery } from '../../device/data/device-queries.ts';
import { newRuleKey } from '../rule-model.ts';
import styles from './add-alarm.module.css';
import { addAlarmWords } from './add-alarm-words.ts';
import {
  alarmRule,
  type AlarmSource,
  editedRule,
  reachOf,
  roundedIn,
  type RuleBody,
  simulatedRule,
  watchedRule,
} from './alarm-draft.ts';

const weekMs = 7 * 86_400_000;
const firstHoldsFor = 'PT5M';

interface AddAlarmProps {
  readonly workspaceId: string;
  /** At least one. */
  readonly sources: readonly AlarmSource[];
  readonly close: () => void;
}

export function AddAlarm({ workspaceId, sources, close }: AddAlarmProps) {
  const [at, setAt] = useState(0);
  const source = sources[at];
  if (source === undefined) return null;
  return (
    <AlarmOf
      // Another value has another limit.
      key={at}
      workspaceId={workspaceId}
      source={source}
      choice={sources.length > 1 && <SourceChoice sources={sources} at={at} choose={setAt} />}
      close={close}
    />
  );
}

interface SourceChoiceProps {
  readonly sources: readonly AlarmSource[];
  readonly at: number;
  readonly choose: (at: number) => void;
}

function SourceChoice({ sources, at, choose }: SourceChoiceProps) {
  const words = useWords(addAlarmWords);
  return (
    <SelectField
      label={words.source}
      value={at}
      onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
    >
      {sources.map(({ deviceId, topic, dataKey, title }, place) => (
        <option key={`${deviceId} ${topic} ${dataKey}`} value={place}>
          {title}
        </option>
      ))}
    </SelectField>
  );
}

interface AlarmOfProps {
  readonly workspaceId: string;
  readonly source: AlarmSource;
  readonly choice: ReactNode;
  readonly close: () => void;
}

function AlarmOf({ workspaceId, source, choice, close }: AlarmOfProps) {
  const words = useWords(addAlarmWords);
  const { severities } = useWords(severityWords);
  const formats = useFormats();
  const week = useWeek(source);
  const { reach } = week;
  const range = reach === undefined ? 0 : reach.greatest - reach.least;
  const [typed, setTyped] = useState<string>();
  const [side, setSide] = useState<'above' | 'below'>();
  const [holdsFor, setHoldsFor] = useState(firstHoldsFor);
  const [severity, setSeverity] = useState<(typeof alarmSeverities)[number]>('MAJOR');
  const [mailed, setMailed] = useState('');
  const [onCallIds, setOnCallIds] = useState<readonly string[]>([]);
  // Above all that was measured, until another one is chosen.
  const first = reach && String(roundedIn(reach.greatest + range / 10, range));
  const shown = typed ?? first ?? '';
  const limit = shown.trim() === '' ? Number.NaN : Number(shown);
  const isLimit = Number.isFinite(limit);
  const isAbove = side === undefined ? !(limit < (reach?.mean ?? limit)) : side === 'above';
  const said = `${formats.value(limit)} ${source.unit}`.trim();
  const name = (isAbove ? words.ruleAbove : words.ruleBelow)(source.title, said);
  const rule = watchedRule(source, { limit, isAbove, holdsFor }, name, workspaceId);
  const emails = addressesIn(mailed);
  const mailFields = 'actions.0.outputConnector.alarmProperties.notify';
  const { save, faultOf, isBusy, error } = useFormSave({
    send: (body: RuleBody) => ask(platform.POST('/v3/rules', { body })),
    fields: [mailFields],
    refreshes: [['rules'], ['outputs']],
    message: (created) => words.created(created.name),
    close,
  });
  const body = alarmRule(rule, { severity, recipients: { emails, onCallIds } });
  const device = useQuery(deviceQuery(source.deviceId)).data;
  const navigate = useNavigate();
  const openEditor = () => {
    keepDraft(newRuleKey(workspaceId), editedRule(source, body, device?.name ?? source.deviceId));
    void navigate({ to: '/w/$workspaceId/rules/new', params: { workspaceId } });
  };
  return (
    <FormDialog
      isWide
      title={words.title(source.title)}
      extraButtons={
        <Button disabled={!isLimit || device === undefined} onClick={openEditor}>
          {words.advanced}
        </Button>
      }
      submitLabel={words.create}
      isBusy={isBusy}
      isIncomplete={!isLimit}
      error={error}
      submit={() => save(body)}
      close={close}
    >
      {choice}
      <LimitChart
        source={source}
        week={week}
        limit={isLimit ? limit : undefined}
        label={`${isAbove ? '>' : '<'} ${said}`}
        pick={(value) => setTyped(String(roundedIn(value, range)))}
      />
      <div className={styles['fields']}>
        <TextField
          label={source.unit === '' ? words.limit : words.limitIn(source.unit)}
          type="number"
          step="any"
          required
          value={shown}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <SelectField
          label={words.triggers}
          value={isAbove ? 'above' : 'below'}
          onChange={({ currentTarget }) =>
            setSide(currentTarget.value === 'above' ? 'above' : 'below')
          }
        >
          <option value="above">{words.above}</option>
          <option value="below">{words.below}</option>
        </SelectField>
        <MinutesField
          label={words.holdsFor}
          hint={words.holdsForHint}
          value={holdsFor}
          change={setHoldsFor}
        />
        <SelectField
          label={words.severity}
          value={severity}
          onChange={({ currentTarget: { value } }) =>
            setSeverity(alarmSeverities.find((one) => one === value) ?? severity)
          }
        >
          {alarmSeverities.map((one) => (
            <option key={one} value={one}>
              {severities[one]}
            </option>
          ))}
        </SelectField>
      </div>
      <p role="status" className="mute">
        {isLimit && <Simulated rule={simulatedRule(rule)} />}
      </p>
      <Recipients
        workspaceId={workspaceId}
        mailed={mailed}
        mail={setMailed}
        onCallIds={onCallIds}
        setOnCallIds={setOnCallIds}
        error={faultOf(mailFields)}
      />
    </FormDialog>
  );
}

function addressesIn(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((one) => one !== '');
}

// Chart of the last week, with the limit as a line.

/** The value in the last 7 days, and what it reaches there. */
function useWeek({ deviceId, topic, dataKey }: AlarmSource) {
  const { zone } = useFormats();
  const bodyAt = (nowMs: number) => {
    const span = { fromMs: nowMs - weekMs, toMs: nowMs };
    return {
      series: [
        {
          deviceId,
          topic,
          dataKey,
          accumulators: ['AVG' as const, 'MIN' as const, 'MAX' as const],
        },
      ],
      interval: isoInterval(span),
      bucketInterval: bucketFor(span).iso,
      timeZone: zone,
    };
  };
  const answer = useQuery(
    seriesQuery(['add alarm', deviceId, topic, dataKey, zone], bodyAt, false),
  );
  const silentAfterS = useQuery(deviceQuery(deviceId)).data?.onlineTimeout;
  const { data } = answer;
  const found = useMemo(() => {
    const [series] = data?.series ?? [];
    // A device that sends since an hour has an hour of the chart.
    const known = series?.dataPoints['AVG']?.findIndex((value) => value !== null) ?? 0;
    const first = Math.max(0, known);
    const times =
      series?.timestamps.slice(first).map((timestamp) => Date.parse(timestamp) / 1_000) ?? [];
    const of = (accumulator: string) =>
      withGaps(times, series?.dataPoints[accumulator]?.slice(first) ?? [], silentAfterS);
    const [values, least, greatest] = [of('AVG'), of('MIN'), of('MAX')];
    return { times, values, band: { least, greatest }, reach: reachOf([values, least, greatest]) };
  }, [data, silentAfterS]);
  return { answer, ...found };
}

interface LimitChartProps {
  readonly source: AlarmSource;
  readonly week: ReturnType<typeof useWeek>;
  readonly limit: number | undefined;
  /** Of the line. */
  readonly label: string;
  readonly pick: (value: number) => void;
}

function LimitChart({ source, week, limit, label, pick }: LimitChartProps) {
  const words = useWords(addAlarmWords);
  const { zone } = useFormats();
  const { title, unit } = source;
  const { answer, times, values, band, reach } = week;
  const lines = useMemo(
    () => [{ label: title, unit, color: '--c1' as const, values, band }],
    [title, unit, values, band],
  );
  const levels = useMemo(
    () => (limit === undefined ? [] : [{ value: limit, label, color: '--bad' as const }]),
    [limit, label],
  );
  // The same while the line is dragged, with room on both sides.
  const axes = useMemo(() => {
    if (reach === undefined) return undefined;
    const spare = (reach.greatest - reach.least || Math.abs(reach.greatest) || 1) * 0.4;
    const [min, max] = [reach.least - spare, reach.greatest + spare];
    const beyond = limit === undefined ? [] : [limit];
    return { left: { min: Math.min(min, ...beyond), max: Math.max(max, ...beyond) } };
  }, [reach, limit]);
  if (answer.error !== null && answer.data === undefined)
    return <Failure error={answer.error} retry={() => void answer.refetch()} />;
  if (answer.data === undefined)
    return (
      <div className={styles['chart']}>
        <Bone width="100%" />
      </div>
    );
  if (reach === undefined) return <Empty title={words.noValues} />;
  return (
    <div className={styles['chart']}>
      <LineChart
        times={times}
        lines={lines}
        levels={levels}
        {...(axes && { axes })}
        zone={zone}
        height={220}
        label={words.chart(title)}
        pickLevel={pick}
      />
      <span className="faint text-tiny">{words.chartHint}</span>
    </div>
  );
}

/** How often it would have triggered. */
function Simulated({ rule }: { readonly rule: RuleBody }) {
  const words = useWords(addAlarmWords);
  const { count, duration } = useFormats();
  const settled = useSettledValue(JSON.stringify(rule.logic));
  const simulation = useQuery({
    queryKey: ['simulated draft', settled],
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    queryFn: ({ signal }) => {
      const now = Date.now();
      const body = { rule, ...isoInterval({ fromMs: now - weekMs, toMs: now }) };
      return ask(platform.POST('/v3/rules/simulate', { signal, body }));
    },
  });
  const { data, error, isPlaceholderData } = simulation;
  if (error !== null) return error.message;
  if (data === undefined || isPlaceholderData) return words.counting;
  const { fired, trueSeconds, truncated } = data;
  const said = words.wouldHave(count(fired), fired, duration(trueSeconds));
  return `${said}${truncated ? ` ${words.truncated}` : ''}`;
}

// Recipients: typed addresses, and those that are likely as buttons.

interface RecipientsProps {
  readonly workspaceId: string;
  readonly mailed: string;
  readonly mail: (mailed: string) => void;
  readonly onCallIds: readonly string[];
  readonly setOnCallIds: (ids: readonly string[]) => void;
  readonly error: string | undefined;
}

const suggestedMax = 5;

function Recipients(props: RecipientsProps) {
  const { workspaceId, mailed, mail, onCallIds, setOnCallIds, error } = props;
  const words = useWords(addAlarmWords);
  const sendsMail = useQuery(aboutQuery).data?.features.mail !== false;
  const orders = useQuery(onCallOrders(workspaceId)).data?.content ?? [];
  const members = useMemberEmails(workspaceId);
  const emails = addressesIn(mailed);
  const toggle = (list: readonly string[], one: string) =>
    list.includes(one) ? list.filter((other) => other !== one) : [...list, one];
  return (
    <>
      <TextField
        label={words.recipients}
        hint={sendsMail ? words.recipientsHint : words.noMail}
        error={error}
        inputMode="email"
        autoComplete="off"
        disabled={!sendsMail}
        value={mailed}
        onChange={({ currentTarget }) => mail(currentTarget.value)}
      />
      {sendsMail && members.length + orders.length > 0 && (
        <span
          className={`flow wrap gap-8 ${styles['suggested']}`}
          role="group"
          aria-label={words.suggested}
        >
          {members.slice(0, suggestedMax).map((email) => (
            <Button
              key={email}
              aria-pressed={emails.includes(email)}
              onClick={() => mail(toggle(emails, email).join(', '))}
            >
              <span className="ellipsis">{email}</span>
            </Button>
          ))}
          {orders.slice(0, suggestedMax).map(({ id, name }) => (
            <Button
              key={id}
              aria-pressed={onCallIds.includes(id)}
              onClick={() => setOnCallIds(toggle(onCallIds, id))}
            >
              <span className="ellipsis">{words.onCall(name)}</span>
            </Button>
          ))}
        </span>
      )}
    </>
  );
}

/** The own address first. Others only for those who may read the members. */
function useMemberEmails(workspaceId: string): readonly string[] {
  const { email, organizationId } = useAccount();
  const members = useQuery({
    queryKey: ['members', organizationId],
    enabled: useMay(workspaceId, 'organization.member', 'read'),
    queryFn: ({ signal }) => {
      const params = { path: { id: organizationId } };
      return ask(platform.GET('/v3/organizations/{id}/members', { signal, params }));
    },
  });
  const others = members.data?.content.map((member) => member.email) ?? [];
  return [...new Set([...(email === null ? [] : [email]), ...others])];
}
