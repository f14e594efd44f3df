// Choices above a chart: range with its keys, zone, the period before, and zoom.
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CheckField } from '../../../ui/field.tsx';
import { RangePicker, ZoneSelect } from '../../../ui/range-picker.tsx';
import { useKey } from '../../../ui/keys.ts';
import { zoneChoices } from '../../../words/zone-times.ts';
import { useWords } from '../../../words/language.tsx';
import { isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { changedRange, intervalOf, rangeDefault } from '../data/time-range.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceRoute, rangeNames } from '../device-search.ts';
import { deviceWords } from '../device-words.ts';
import styles from './overview.module.css';

export function RangeChoice() {
  const search = useSearch({ from: deviceRoute });
  const { zone } = useDeviceFrame();
  const navigate = useNavigate();
  useRangeKeys();
  return (
    <div className="row wrap gap-8">
      <FrameZone />
      <RangePicker
        names={rangeNames}
        name={search.range ?? rangeDefault}
        isCustom={search.from !== undefined}
        zone={zone}
        shown={() => isoInterval(intervalOf(search, Date.now()))}
        choose={(range) =>
          void navigate({
            to: '.',
            search: ({ from: _, to: __, ...kept }) => ({ ...kept, range }),
            resetScroll: false,
          })
        }
        show={(custom) =>
          void navigate({
            to: '.',
            search: ({ range: _, ...kept }) => ({ ...kept, ...custom }),
            resetScroll: false,
          })
        }
      />
    </div>
  );
}

/** Half of the range earlier or later, half or twice as long. */
function useRangeKeys(): void {
  const search = useSearch({ from: deviceRoute });
  const navigate = useNavigate();
  const show = (change: Parameters<typeof changedRange>[1]) => {
    const now = Date.now();
    const changed = changedRange(intervalOf(search, now), change, now);
    void navigate({
      to: '.',
      search: ({ range: _, ...kept }) => ({ ...kept, ...isoInterval(changed) }),
      resetScroll: false,
      replace: true,
    });
  };
  useKey('earlier', () => show('earlier'));
  useKey('later', () => show('later'));
  useKey('zoomIn', () => show('zoomIn'));
  useKey('zoomOut', () => show('zoomOut'));
}

function FrameZone() {
  const words = useWords(deviceWords);
  const { zones, zoneName, zone } = useDeviceFrame();
  const navigate = useNavigate();
  const known = zoneChoices.filter((name) => zones[name] !== undefined);
  return (
    <ZoneSelect
      label={words.zone}
      title={zone}
      value={zoneName}
      options={known.map((value) => ({ value, label: `${words.zones[value]}: ${zones[value]}` }))}
      choose={(tz) =>
        void navigate({ to: '.', search: (before) => ({ ...before, tz }), resetScroll: false })
      }
    />
  );
}

// Zoom of a chart: the range of the address, from a part of the chart and back.

/** Every zoom is a place in the history of the browser, so that its back button works too. */
export function useZoom() {
  const navigate = useNavigate();
  const change = (part: Readonly<Record<string, string | undefined>>) => {
    const zoomed = (before: object) => ({ ...before, ...part });
    void navigate({ to: '.', search: zoomed as never, resetScroll: false });
  };
  const instant = (seconds: number) => new Date(Math.round(seconds * 1_000)).toISOString();
  return {
    into: (from: number, to: number) =>
      change({ range: undefined, from: instant(from), to: instant(to) }),
    back: () => change({ from: undefined, to: undefined }),
  };
}

// Before choice: whether charts also show the period before their range.

/** With what the comparison says. */
export function BeforeChoice({ children }: { readonly children?: ReactNode }) {
  const words = useWords(deviceWords);
  const { before } = useSearch({ from: deviceRoute });
  const navigate = useNavigate();
  return (
    <div className={styles['compared']}>
      <CheckField
        label={words.compare}
        isOn={before === true}
        change={(isOn) => {
          const changed = (search: object) => ({ ...search, before: isOn ? true : undefined });
          void navigate({ to: '.', search: changed as never, resetScroll: false });
        }}
      />
      {children}
    </div>
  );
}
