// Notes of a chart: the notes and alarms of its devices in the range, as marks.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { devicesOf } from '../../../../../src/dashboards/plan.ts';
import type { PlotMark } from '../../../../../src/dashboards/plot.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { type Alarm, alarmsKey } from '../../../api/alarms.ts';
import { answers } from '../../../api/answers.ts';
import { ask, platform } from '../../../api/platform.ts';
import { useMay } from '../../../session/permissions.ts';
import { useTileFrame } from '../tiles/tile-data.ts';

export type Note = components['schemas']['Annotation'];

/** More cannot be told apart in a chart. */
const marksMax = 100;
const devicesMax = 200;
const refreshMs = 60_000;
/** With more, their names would cover each other, so that only the lines stay. */
const namesMax = 3;
const nameLengthMax = 32;

const notesKey = (workspaceId: string) => ['annotations', workspaceId] as const;

export interface ChartNotes {
  /** Newest first. */
  readonly notes: readonly Note[];
  /** Those that opened in the range. */
  readonly alarms: readonly Alarm[];
  readonly deviceIds: readonly string[];
  /** The same until a note or an alarm changes. */
  readonly marks: readonly PlotMark[];
}

/** Needs a session, which a shared link does not have. */
export function useChartNotes(tile: BoundTile): ChartNotes {
  const { workspaceId, data, annotations } = useTileFrame();
  const mayReadNotes = useMay(workspaceId, 'dashboard', 'read');
  const mayReadAlarms = useMay(workspaceId, 'rule', 'read');
  const deviceIds = devicesOf([tile], data.devices).slice(0, devicesMax);
  const concerns = deviceIds.join();
  const { range, isFixed } = data;
  const shared = {
    placeholderData: keepPreviousData,
    refetchInterval: isFixed ? (false as const) : refreshMs,
  };
  const isAsked = concerns !== '';
  const notes = useQuery({
    ...shared,
    queryKey: [...notesKey(workspaceId), range.name, concerns],
    enabled: isAsked && mayReadNotes && annotations?.notes !== false,
    queryFn: async ({ signal }) => {
      const interval = isoInterval(range.intervalAt(Date.now()));
      const query = { workspaceId, ...interval, concerns, size: marksMax };
      return (await ask(platform.GET('/v3/annotations', { signal, params: { query } }))).content;
    },
  });
  const alarms = useQuery({
    ...shared,
    queryKey: [...alarmsKey(workspaceId), 'chart', range.name, concerns],
    enabled: isAsked && mayReadAlarms && annotations?.alarms === true,
    queryFn: async ({ signal }) => {
      const { fromMs, toMs } = range.intervalAt(Date.now());
      const query = { workspaceId, deviceId: concerns, size: marksMax };
      const { content } = await ask(platform.GET('/v3/alarms', { signal, params: { query } }));
      return content.filter(({ firstTriggered }) => {
        const at = Date.parse(firstTriggered);
        return at >= fromMs && at < toMs;
      });
    },
  });
  const [known, opened] = [notes.data ?? none, alarms.data ?? none];
  const marks = useMemo(() => marksOf(known, opened), [known, opened]);
  return { notes: known, alarms: opened, deviceIds, marks };
}

const none: readonly never[] = [];

function marksOf(notes: readonly Note[], alarms: readonly Alarm[]): readonly PlotMark[] {
  const isNamed = notes.length + alarms.length <= namesMax;
  const named = (text: string) => (isNamed ? shortened(text) : '');
  const seconds = (iso: string) => Date.parse(iso) / 1_000;
  return [
    ...notes.map(({ at, until, text }) => ({
      at: seconds(at),
      ...(until !== null && { until: seconds(until) }),
      label: named(text),
      note: text,
      color: '--ink-2' as const,
    })),
    ...alarms.map(({ firstTriggered, name, severity }) => ({
      at: seconds(firstTriggered),
      label: named(name),
      note: name,
      color:
        severity === 'CRITICAL' || severity === 'MAJOR' ? ('--bad' as const) : ('--warn' as const),
    })),
  ];
}

function shortened(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length <= nameLengthMax ? line : `${line.slice(0, nameLengthMax - 1)}…`;
}

/** What charts show again after a change. */
export function refreshNotes(workspaceId: string): Promise<void> {
  return answers.invalidateQueries({ queryKey: notesKey(workspaceId) });
}
