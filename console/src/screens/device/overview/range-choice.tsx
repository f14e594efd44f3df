// Range choice: the usual ranges, a custom one, the way back from a zoom, and the zone of the times.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { ZoomOut } from 'lucide-react';
import { useKey } from '../../../keys/use-key.ts';
import { Button } from '../../../parts/button.tsx';
import { Segments } from '../../../parts/choice.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { instantOfLocal, localOf } from '../data/local-time.ts';
import { changedRange, intervalOf, isoInterval, rangeDefault } from '../data/time-range.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { type ZoneChoice, zoneChoices } from '../../../session/zone-choices.ts';
import { deviceRoute, rangeNames } from '../device-search.ts';
import { deviceWords } from '../device-words.ts';
import styles from './overview.module.css';

export function RangeChoice() {
  const words = useWords(deviceWords);
  const search = useSearch({ from: deviceRoute });
  const navigate = useNavigate();
  const [isAsked, setAsked] = useState(false);
  const isCustom = search.from !== undefined;
  useRangeKeys();
  const choose = (range: (typeof rangeNames)[number] | 'custom') => {
    if (range === 'custom') return setAsked(true);
    void navigate({
      to: '.',
      search: ({ from: _, to: __, ...kept }) => ({ ...kept, range }),
      resetScroll: false,
    });
  };
  return (
    <div className={styles['choices']}>
      <ZoneSelect />
      {isCustom && (
        <Button look="ghost" onClick={() => choose(search.range ?? rangeDefault)}>
          <ZoomOut aria-hidden="true" />
          {words.zoomBack}
        </Button>
      )}
      <Segments
        label={words.range}
        options={[
          ...rangeNames.map((value) => ({ value, label: value })),
          { value: 'custom' as const, label: words.custom },
        ]}
        value={isCustom ? 'custom' : (search.range ?? rangeDefault)}
        choose={choose}
      />
      {isAsked && <CustomRange close={() => setAsked(false)} />}
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

function ZoneSelect() {
  const words = useWords(deviceWords);
  const { zones, zoneName, zone } = useDeviceFrame();
  const navigate = useNavigate();
  const known = zoneChoices.filter((name) => zones[name] !== undefined);
  return (
    <label className={styles['zone']} title={zone}>
      <span className="sr">{words.zone}</span>
      <select
        value={zoneName}
        onChange={({ target }) => {
          const tz = target.value as ZoneChoice;
          void navigate({ to: '.', search: (before) => ({ ...before, tz }), resetScroll: false });
        }}
      >
        {known.map((name) => (
          <option key={name} value={name}>
            {words.zones[name]}: {zones[name]}
          </option>
        ))}
      </select>
    </label>
  );
}

function CustomRange({ close }: { readonly close: () => void }) {
  const words = useWords(deviceWords);
  const { zone } = useDeviceFrame();
  const search = useSearch({ from: deviceRoute });
  const navigate = useNavigate();
  const form = useId();
  const [shown] = useState(() => isoInterval(intervalOf(search, Date.now())));
  const [from, setFrom] = useState(localOf(shown.from, zone));
  const [to, setTo] = useState(localOf(shown.to, zone));
  const show = () => {
    close();
    const custom = { from: instantOfLocal(from, zone), to: instantOfLocal(to, zone) };
    void navigate({
      to: '.',
      search: ({ range: _, ...kept }) => ({ ...kept, ...custom }),
      resetScroll: false,
    });
  };
  return (
    <Dialog
      title={words.custom}
      close={close}
      footer={
        <Button look="primary" type="submit" form={form} disabled={from >= to}>
          {words.apply}
        </Button>
      }
    >
      <form
        id={form}
        className={styles['custom']}
        onSubmit={(event) => {
          event.preventDefault();
          show();
        }}
      >
        <TextField
          label={words.from}
          type="datetime-local"
          required
          value={from}
          onChange={({ target }) => setFrom(target.value)}
        />
        <TextField
          label={words.to}
          type="datetime-local"
          required
          value={to}
          hint={zone}
          onChange={({ target }) => setTo(target.value)}
        />
      </form>
    </Dialog>
  );
}
