// Range choice: the range of a device's pages with its keys, and the zone of the times.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useKey } from '../../../ui/use-key.ts';
import { RangePicker, ZoneSelect } from '../../../ui/range-picker.tsx';
import { zoneChoices } from '../../../ui/zone-choices.ts';
import { useWords } from '../../../words/language.tsx';
import { changedRange, intervalOf, isoInterval, rangeDefault } from '../data/time-range.ts';
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
    <div className={styles['choices']}>
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
