// About card: where an alarm comes from, and the values of its last trigger.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Alarm } from '../../api/alarms.ts';
import { ask, platform } from '../../api/platform.ts';
import { Card } from '../../ui/card.tsx';
import { CodeBlock } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { editorWords } from '../rules/editor-words.ts';
import { draftOf } from '../rules/rule-model.ts';
import { ruleOf } from '../rules/rule-requests.ts';
import { sentenceOf } from '../rules/rule-sentence.ts';
import { alarmsWords } from './alarms-words.ts';
import styles from './alarms.module.css';

export function AboutCard({ alarm }: { readonly alarm: Alarm }) {
  const words = useWords(alarmsWords);
  const { instant, count } = useFormats();
  const { key, firstTriggered, lastTriggered, correlationId, count: times } = alarm;
  return (
    <Card title={words.about}>
      <dl className={styles['facts-list']}>
        <DeviceFact alarm={alarm} />
        <RuleFact alarm={alarm} />
        <Fact name={words.times}>
          <span className="num">{count(times)}</span>
        </Fact>
        <Fact name={words.first}>
          <span className="num">{instant(firstTriggered)}</span>
        </Fact>
        <Fact name={words.lastSeen}>
          <span className="num">{instant(lastTriggered)}</span>
        </Fact>
        <Fact name={words.key}>
          <span className="mono">{key}</span>
        </Fact>
        <Fact name={words.correlation}>
          <span className="mono">{correlationId}</span>
        </Fact>
      </dl>
      <Others alarm={alarm} />
    </Card>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function DeviceFact({ alarm: { workspaceId, device } }: { readonly alarm: Alarm }) {
  const words = useWords(alarmsWords);
  const isThere = useExists(workspaceId, 'DEVICE', device?.id);
  if (device === null) return null;
  if (isThere === false)
    return (
      <Fact name={words.device}>
        {device.name} <span className="faint">({words.gone})</span>
      </Fact>
    );
  return (
    <Fact name={words.device}>
      <Link to="/w/$workspaceId/devices/$deviceId" params={{ workspaceId, deviceId: device.id }}>
        {device.name}
      </Link>
    </Fact>
  );
}

function RuleFact({ alarm: { workspaceId, rule } }: { readonly alarm: Alarm }) {
  const words = useWords(alarmsWords);
  const editor = useWords(editorWords);
  const isThere = useExists(workspaceId, 'RULE', rule?.id);
  const read = useQuery({ ...ruleOf(rule?.id ?? ''), enabled: isThere === true }).data;
  if (rule === null) return null;
  if (isThere === false)
    return (
      <Fact name={words.rule}>
        {rule.name} <span className="faint">({words.gone})</span>
      </Fact>
    );
  return (
    <Fact name={words.rule}>
      <Link to="/w/$workspaceId/rules/$ruleId/edit" params={{ workspaceId, ruleId: rule.id }}>
        {rule.name}
      </Link>
      {read !== undefined && (
        <>
          {' '}
          <small className="mute">{sentenceOf(draftOf(read), editor)}</small>
        </>
      )}
    </Fact>
  );
}

function Others({ alarm: { workspaceId, device, rule } }: { readonly alarm: Alarm }) {
  const words = useWords(alarmsWords);
  const to = '/w/$workspaceId/alarms';
  const params = { workspaceId };
  if (device === null && rule === null) return null;
  return (
    <p className={styles['more']}>
      {words.others}
      {device !== null && (
        <Link to={to} params={params} search={{ state: 'all', device: device.id }}>
          {words.othersDevice}
        </Link>
      )}
      {rule !== null && (
        <Link to={to} params={params} search={{ state: 'all', rule: rule.id }}>
          {words.othersRule}
        </Link>
      )}
    </p>
  );
}

export function ValuesCard({ alarm: { data } }: { readonly alarm: Alarm }) {
  const words = useWords(alarmsWords);
  const formats = useFormats();
  const values = Object.entries(data);
  const isPlain = values.every(([, value]) => typeof value !== 'object' || value === null);
  return (
    <Card title={words.values}>
      {values.length === 0 && <p className={styles['bones']}>{words.noValues}</p>}
      {values.length > 0 && isPlain && (
        <dl className={styles['facts-list']}>
          {values.map(([name, value]) => (
            <Fact key={name} name={name}>
              <b className="num">
                {typeof value === 'number' ? formats.value(value) : String(value)}
              </b>
            </Fact>
          ))}
        </dl>
      )}
      {!isPlain && <CodeBlock code={JSON.stringify(data, null, 2)} />}
    </Card>
  );
}

// Existence of a record: an alarm outlives its device, its rule and its output.

type Kind = 'DEVICE' | 'OUTPUT_CONNECTOR' | 'RULE';

/** Asked of the search, because a request for a deleted record would be an error of the page. */
export function useExists(
  workspaceId: string,
  kind: Kind,
  id: string | undefined,
): boolean | undefined {
  const { data } = useQuery({
    queryKey: ['exists', kind, id],
    enabled: id !== undefined,
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/search', {
          signal,
          params: { query: { q: id ?? '', workspaceId, kinds: kind } },
        }),
      ),
  });
  return data?.hits.some((hit) => hit.id === id);
}
