// Alarm marks: when alarms of a device opened, on the chart of its values.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Alarm, alarmsOfDevice } from '../../../api/alarms.ts';
import type { PlotMark } from '../../../../../src/dashboards/plot.ts';
import { useMay } from '../../../session/permissions.ts';

/** With more, their names would cover each other, so that only the lines stay. */
const namesMax = 3;

/** Empty for a caller without permission to read alarms. */
export function useAlarmMarks(workspaceId: string, deviceId: string): readonly PlotMark[] {
  const mayRead = useMay(workspaceId, 'rule', 'read');
  const { data } = useQuery({ ...alarmsOfDevice(workspaceId, deviceId), enabled: mayRead });
  return useMemo(() => marksOf(data?.content ?? []), [data]);
}

export function marksOf(alarms: readonly Alarm[]): PlotMark[] {
  const isNamed = alarms.length <= namesMax;
  return alarms.map(({ firstTriggered, name, severity }) => ({
    at: Date.parse(firstTriggered) / 1_000,
    label: isNamed ? name : '',
    color: severity === 'CRITICAL' || severity === 'MAJOR' ? '--bad' : '--warn',
  }));
}
