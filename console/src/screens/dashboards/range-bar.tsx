// Range bar: the range of all tiles, the way back from a zoom, and the zone of the times.
import { ZoomOut } from 'lucide-react';
import { useId, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/choice.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { instantOfLocal, localOf } from '../device/data/local-time.ts';
import { isoInterval } from '../device/data/time-range.ts';
import type { Configuration } from './dashboard-model.ts';
import { type DashboardSearch, type RangeName, rangeNames } from './dashboard-search.ts';
import styles from './dashboards.module.css';
import { dashboardsWords } from './dashboards-words.ts';
import { browserZone, intervalShown, savedRange } from './data/dashboard-range.ts';

export interface RangeBarProps {
  readonly configuration: Configuration;
  readonly search: DashboardSearch;
  readonly zone: string;
  /** The zone of the dashboard, also while another is shown. */
  readonly ownZone: string;
  readonly change: (search: DashboardSearch) => void;
}

export function RangeBar({ configuration, search, zone, ownZone, change }: RangeBarProps) {
  const words = useWords(dashboardsWords);
  const [isAsked, setAsked] = useState(false);
  const { from, to: _, range, ...others } = search;
  const choose = (chosen: RangeName | 'custom') =>
    chosen === 'custom' ? setAsked(true) : change({ ...others, range: chosen });
  const shown = range ?? savedRange(configuration);
  return (
    <>
      <ZoneChoice search={search} ownZone={ownZone} change={change} />
      {from !== undefined && (
        <Button look="ghost" onClick={() => choose(shown)}>
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
        value={from === undefined ? shown : 'custom'}
        choose={choose}
      />
      {isAsked && (
        <CustomRange
          search={search}
          configuration={configuration}
          zone={zone}
          close={() => setAsked(false)}
          show={(custom) => change({ ...others, ...custom })}
        />
      )}
    </>
  );
}

/** What is shown, in a sentence. */
export function RangeSentence({
  configuration,
  search,
  zone,
}: Omit<RangeBarProps, 'change' | 'ownZone'>) {
  const words = useWords(dashboardsWords);
  const formats = useFormats();
  const { from, to } = search;
  if (from !== undefined && to !== undefined)
    return `${formats.instant(from, zone)} – ${formats.instant(to, zone)} · ${zone}`;
  return `${words.last[search.range ?? savedRange(configuration)]} · ${zone}`;
}

function ZoneChoice({
  search,
  ownZone,
  change,
}: Pick<RangeBarProps, 'search' | 'ownZone' | 'change'>) {
  const words = useWords(dashboardsWords);
  const mine = browserZone();
  if (mine === ownZone) return null;
  const { tz, ...others } = search;
  return (
    <label className={styles['zone']}>
      <span className="sr">{words.zone}</span>
      <select
        value={tz ?? 'own'}
        onChange={({ target }) =>
          change(target.value === 'mine' ? { ...others, tz: 'mine' } : others)
        }
      >
        <option value="own">
          {words.zoneOf.own}: {ownZone}
        </option>
        <option value="mine">
          {words.zoneOf.mine}: {mine}
        </option>
      </select>
    </label>
  );
}

interface CustomRangeProps extends Pick<RangeBarProps, 'search' | 'configuration'> {
  readonly zone: string;
  readonly close: () => void;
  readonly show: (range: { readonly from: string; readonly to: string }) => void;
}

function CustomRange({ search, configuration, zone, close, show }: CustomRangeProps) {
  const words = useWords(dashboardsWords);
  const form = useId();
  const [shown] = useState(() => isoInterval(intervalShown(search, configuration, Date.now())));
  const [from, setFrom] = useState(localOf(shown.from, zone));
  const [to, setTo] = useState(localOf(shown.to, zone));
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
          close();
          show({ from: instantOfLocal(from, zone), to: instantOfLocal(to, zone) });
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
