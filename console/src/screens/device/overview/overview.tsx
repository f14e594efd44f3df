// Overview of a device: its values, the course of one of them, what arrives, and what it is.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { answers } from '../../../api/answers.ts';
import { Segments } from '../../../parts/choice.tsx';
import { Answered, Bone } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { type DataKey, dataKeysOf, type TopicSchemas, topicsOf } from '../data/data-keys.ts';
import { schemaQuery } from '../data/device-queries.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceWords } from '../device-words.ts';
import { LiveTail } from '../live/live-tail.tsx';
import { AboutDevice } from './about-device.tsx';
import { NeverHeard } from './never-heard.tsx';
import styles from './overview.module.css';
import { ValueChart } from './value-chart.tsx';
import { ValueTiles } from './value-tiles.tsx';
import { deviceRoute } from '../device-search.ts';

export function Overview() {
  const { device, feed } = useDeviceFrame();
  const schema = useQuery(schemaQuery(device.id));
  useNewKeys(schema.data);
  const isSilent = device.uplinkMetrics === null && feed.rows.length === 0 && !feed.isLoading;
  return (
    <>
      {isSilent ? (
        <NeverHeard />
      ) : (
        <Answered
          answer={schema}
          curl={{ path: `/v3/devices/${device.id}/infer-schema` }}
          skeleton={<TileBones />}
        >
          {(schemas) => {
            const topics = topicsOf(schemas);
            return <Values topics={topics} keysOf={(topic) => dataKeysOf(schemas, topic)} />;
          }}
        </Answered>
      )}
      <div className={styles['lower']}>
        <LiveTail isTall={false} />
        <AboutDevice />
      </div>
    </>
  );
}

/** A sample with a key that the schema does not have yet makes it old. */
function useNewKeys(schemas: TopicSchemas | undefined): void {
  const { device, feed } = useDeviceFrame();
  const sample = feed.rows.find(({ isLive }) => isLive)?.sample;
  useEffect(() => {
    if (schemas === undefined || sample === undefined) return;
    const known = schemas[sample.topic]?.properties ?? {};
    const isNew = Object.keys(sample.data).some((key) => !Object.hasOwn(known, key));
    if (isNew) void answers.invalidateQueries(schemaQuery(device.id));
  }, [schemas, sample, device.id]);
}

interface ValuesProps {
  readonly topics: readonly string[];
  readonly keysOf: (topic: string) => readonly DataKey[];
}

function Values({ topics, keysOf }: ValuesProps) {
  const words = useWords(deviceWords);
  const search = useSearch({ from: deviceRoute });
  const navigate = useNavigate({ from: '/w/$workspaceId/devices/$deviceId/overview' });
  const topic = topics.find((one) => one === search.topic) ?? topics[0] ?? 'default';
  const keys = keysOf(topic);
  const numbers = keys.filter(({ isNumber }) => isNumber);
  const shown = numbers.find(({ key }) => key === search.key) ?? numbers[0];
  const show = (change: { topic?: string; key?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <>
      {topics.length > 1 && (
        <div className={styles['topics']}>
          <Segments
            label={words.topic}
            options={topics.map((one) => ({ value: one, label: one }))}
            value={topic}
            choose={(chosen) => show({ topic: chosen })}
          />
        </div>
      )}
      <ValueTiles keys={keys} shown={shown} choose={(key) => show({ topic, key })} />
      <ValueChart shown={shown} colorAt={shown === undefined ? 0 : numbers.indexOf(shown)} />
    </>
  );
}

function TileBones() {
  return (
    <div className={styles['tiles']}>
      {['a', 'b', 'c', 'd'].map((name) => (
        <div key={name} className={styles['tile']}>
          <Bone width="5em" />
          <Bone width="7em" />
        </div>
      ))}
    </div>
  );
}
