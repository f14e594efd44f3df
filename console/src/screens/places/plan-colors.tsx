// Plan colors: devices as marks of a plan, and the choice of the value that colors them.
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { type Tile, topicOf } from '../../../../src/dashboards/configuration.ts';
import { lastSamplesOf, stateThen } from '../../api/state-then.ts';
import type { MarkState, PlanMark } from '../../plan/paint-plan.ts';
import type { Point } from '../../plan/plan-view.tsx';
import { planWords } from '../../plan/plan-words.ts';
import { SelectField } from '../../ui/field.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import type { Place } from './place-requests.ts';
import {
  partsOf,
  type PlanDevice,
  planDevicesMax,
  type PlanDevices,
  planKeysOf,
  type PlanValues,
  planValuesOf,
  useLiveValues,
} from './plan-data.ts';

/** Where devices are that were moved and are not stored yet. */
export type Moved = ReadonlyMap<string, Point>;

interface MarkParts {
  readonly moved?: Moved;
  /** At the moment that is shown; what the records say without it. */
  readonly stateOf?: (device: PlanDevice) => MarkState;
  readonly values: PlanValues | undefined;
  readonly text: (value: number) => string;
}

/** Devices that are on the plan, with what they measured last. */
export function marksOf(
  devices: readonly PlanDevice[],
  { moved, stateOf, values, text }: MarkParts,
): readonly PlanMark[] {
  return devices.flatMap((device): PlanMark[] => {
    const { id, name, onlineState, planPosition } = device;
    const at = moved?.get(id) ?? planPosition;
    if (at === null) return [];
    const value = values?.get(id);
    const label = value === undefined ? undefined : text(value);
    const state = stateOf?.(device) ?? onlineState;
    return [{ id, name, x: at.x, y: at.y, state, value, label }];
  });
}

/** What colors the plan of a tile, as the address of a place names it; undefined for the state. */
export function colorOf(colorBy: Tile['colorBy']): string | undefined {
  return colorBy ? `${topicOf(colorBy)} ${colorBy.dataKey}` : undefined;
}

/** Values and states of a plan, now or at an earlier moment (ISO-8601). */
export function usePlanState(place: Place, color: string | undefined, at?: string) {
  const values = useQuery(planValuesOf(place, color, at)).data;
  useLiveValues(place, color, at);
  const of = { placeId: place.id };
  const lasts = useQuery(lastSamplesOf({ of, at, most: planDevicesMax })).data;
  const stateOf = useCallback(
    (device: PlanDevice) =>
      at === undefined ? device.onlineState : stateThen(device, lasts?.get(device.id), at),
    [lasts, at],
  );
  return { values, stateOf };
}

/** How a value is written, with the unit that its key declares. */
export function useValueText(
  place: Place,
  found: PlanDevices | undefined,
  color: string | undefined,
): (value: number) => string {
  const formats = useFormats();
  const keys = useQuery({
    ...planKeysOf(place, found?.devices ?? []),
    enabled: found !== undefined && color !== undefined,
  }).data;
  const { topic, key } = partsOf(color);
  const unit = keys?.find((one) => one.topic === topic && one.key === key)?.unit;
  return useCallback(
    (value: number) => [formats.value(value), unit].filter(Boolean).join(' '),
    [formats, unit],
  );
}

interface ColorChoiceProps {
  readonly place: Place;
  readonly devices: PlanDevices | undefined;
  readonly color: string | undefined;
  readonly change: (color: string | undefined) => void;
}

/** The state, or a number that devices of the place declare or have sent. */
export function ColorChoice({ place, devices, color, change }: ColorChoiceProps) {
  const words = useWords(planWords);
  const keys =
    useQuery({
      ...planKeysOf(place, devices?.devices ?? []),
      enabled: devices !== undefined,
    }).data ?? [];
  const names = keys.map((key) => `${key.topic} ${key.key}`);
  const { key: chosenKey } = partsOf(color);
  return (
    <SelectField
      label={words.colorBy}
      value={color ?? ''}
      onChange={({ currentTarget: { value } }) => change(value === '' ? undefined : value)}
    >
      <option value="">{words.colorByState}</option>
      {keys.map(({ topic, title }, at) => (
        <option key={names[at]} value={names[at]}>
          {topic === 'default' ? title : `${title} (${topic})`}
        </option>
      ))}
      {color !== undefined && !names.includes(color) && <option value={color}>{chosenKey}</option>}
    </SelectField>
  );
}
