// Day track: the periods of a day as bars; ends and bars are dragged, or moved by the keyboard.
import type { Weekday } from '../../../../../src/model/workspace.ts';
import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import { useWords } from '../../../words/language.tsx';
import { settingsWords } from '../settings-words.ts';
import styles from './hours.module.css';
import {
  clockOf,
  dayMinutes,
  lengthOf,
  movedTo,
  type Period,
  stepMinutes,
  withEnd,
} from './week.ts';

type Grip = 'from' | 'to' | 'bar';

interface DayTrackProps {
  readonly day: Weekday;
  readonly name: string;
  readonly periods: readonly Period[];
  /** Undefined deletes the period. */
  readonly replace: (at: number, period: Period | undefined) => void;
  readonly change: (periods: readonly Period[]) => void;
}

export function DayTrack({ day, name, periods, replace, change }: DayTrackProps) {
  const track = useRef<HTMLDivElement>(null);
  const minutesAt = (clientX: number) => {
    const box = track.current?.getBoundingClientRect();
    return box === undefined ? 0 : ((clientX - box.left) / box.width) * dayMinutes;
  };
  const dragged = useDrag(minutesAt, replace);
  // An empty place is where a new period begins; it grows with the pointer.
  const begin = (event: PointerEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget) return;
    const from = Math.min(
      Math.floor(minutesAt(event.clientX) / stepMinutes) * stepMinutes,
      dayMinutes - stepMinutes,
    );
    const period = { from, to: from + stepMinutes };
    change([...periods, period]);
    dragged.begin(event, periods.length, 'to', period);
  };
  return (
    <div
      ref={track}
      className={styles['track']}
      data-day={day}
      onPointerDown={begin}
      onPointerMove={dragged.move}
      onPointerUp={dragged.end}
      onPointerCancel={dragged.end}
    >
      {periods.map((period, at) => (
        <Bar
          // oxlint-disable-next-line react/no-array-index-key -- a period has no other identity
          key={at}
          name={name}
          number={at + 1}
          period={period}
          replace={(next) => replace(at, next)}
          grip={(event, grip) => dragged.begin(event, at, grip, period)}
        />
      ))}
    </div>
  );
}

interface Dragged {
  readonly at: number;
  readonly grip: Grip;
  readonly period: Period;
  /** Minutes between the pointer and the beginning of the bar. */
  readonly offset: number;
}

function useDrag(minutesAt: (clientX: number) => number, replace: DayTrackProps['replace']) {
  const dragged = useRef<Dragged>(undefined);
  return {
    begin(event: PointerEvent, at: number, grip: Grip, period: Period) {
      event.preventDefault();
      event.stopPropagation();
      const track = (event.target as Element).closest<HTMLElement>('[data-day]');
      track?.setPointerCapture(event.pointerId);
      dragged.current = { at, grip, period, offset: minutesAt(event.clientX) - period.from };
    },
    move(event: PointerEvent) {
      if (dragged.current === undefined) return;
      const { at, grip, period, offset } = dragged.current;
      const minutes = minutesAt(event.clientX);
      const next =
        grip === 'bar' ? movedTo(period, minutes - offset) : withEnd(period, grip, minutes);
      replace(at, next);
    },
    end() {
      dragged.current = undefined;
    },
  };
}

interface BarProps {
  readonly name: string;
  readonly number: number;
  readonly period: Period;
  readonly replace: (period: Period | undefined) => void;
  readonly grip: (event: PointerEvent, grip: Grip) => void;
}

function Bar({ name, number, period, replace, grip }: BarProps) {
  const words = useWords(settingsWords);
  // Beyond midnight the bar ends at the end of its day; the numbers say when.
  const shown = Math.min(lengthOf(period), dayMinutes - period.from);
  const isOvernight = period.to <= period.from;
  const place = {
    left: `${(period.from / dayMinutes) * 100}%`,
    width: `${(shown / dayMinutes) * 100}%`,
  };
  const label = words.periodOf(name, number);
  const ends = isOvernight ? [] : (['from', 'to'] as const);
  return (
    <div
      className={styles['bar']}
      style={place}
      data-overnight={isOvernight}
      onPointerDown={(event) => !isOvernight && grip(event, 'bar')}
    >
      <span aria-hidden="true">
        {clockOf(period.from)}–{clockOf(period.to)}
      </span>
      {ends.map((end) => (
        <button
          key={end}
          type="button"
          role="slider"
          className={styles[end]}
          aria-label={`${label}, ${words.ends[end]}`}
          aria-orientation="horizontal"
          aria-valuemin={0}
          aria-valuemax={dayMinutes}
          aria-valuenow={period[end]}
          aria-valuetext={clockOf(period[end])}
          onPointerDown={(event) => grip(event, end)}
          onKeyDown={(event) => onKey(event, period, end, replace)}
        />
      ))}
    </div>
  );
}

const keySteps: Readonly<Record<string, number>> = {
  ArrowLeft: -stepMinutes,
  ArrowDown: -stepMinutes,
  ArrowRight: stepMinutes,
  ArrowUp: stepMinutes,
  PageDown: -60,
  PageUp: 60,
  Home: -dayMinutes,
  End: dayMinutes,
};

/** Arrows move an end, with Shift the bar; Delete removes it. */
function onKey(
  event: KeyboardEvent,
  period: Period,
  end: 'from' | 'to',
  replace: (period: Period | undefined) => void,
): void {
  if (event.key === 'Delete' || event.key === 'Backspace') {
    event.preventDefault();
    return replace(undefined);
  }
  const step = keySteps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  replace(
    event.shiftKey ? movedTo(period, period.from + step) : withEnd(period, end, period[end] + step),
  );
}
