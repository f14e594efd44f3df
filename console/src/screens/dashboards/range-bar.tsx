// Range bar: the range of all tiles, and the zone of the times.
import { History } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { RangePicker, ZoneSelect } from '../../ui/range-picker.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { isoInterval } from '../../../../src/dashboards/buckets.ts';
import type { Configuration } from '../../../../src/dashboards/configuration.ts';
import { type DashboardSearch, rangeNames } from './dashboard-search.ts';
import { dashboardsWords } from './dashboards-words.ts';
import { compareShown, intervalShown, savedRange } from './data/dashboard-range.ts';
import { browserZone } from '../../words/formats.ts';

export interface RangeBarProps {
  readonly configuration: Configuration;
  readonly search: DashboardSearch;
  readonly zone: string;
  /** The zone of the dashboard, also while another is shown. */
  readonly ownZone: string;
  readonly change: (search: DashboardSearch) => void;
}

export function RangeBar({ configuration, search, zone, ownZone, change }: RangeBarProps) {
  const { from, to: _, range, ...others } = search;
  return (
    <>
      <ZoneChoice search={search} ownZone={ownZone} change={change} />
      {configuration.tiles.some(({ kind }) => kind === 'line') && (
        <CompareButton configuration={configuration} search={search} change={change} />
      )}
      <RangePicker
        names={rangeNames}
        name={range ?? savedRange(configuration)}
        isCustom={from !== undefined}
        zone={zone}
        shown={() => isoInterval(intervalShown(search, configuration, Date.now()))}
        choose={(chosen) => change({ ...others, range: chosen })}
        show={(custom) => change({ ...others, ...custom })}
      />
    </>
  );
}

/** Draws an earlier period too: the one that the dashboard names, else the one before. */
function CompareButton({
  configuration,
  search,
  change,
}: Pick<RangeBarProps, 'configuration' | 'search' | 'change'>) {
  const words = useWords(dashboardsWords);
  const { compare: _, ...others } = search;
  const isOn = compareShown(search, configuration) !== undefined;
  const isOwn = Boolean(configuration.compare) === !isOn;
  return (
    <Button
      aria-pressed={isOn}
      look={isOn ? 'primary' : 'plain'}
      title={words.compareHint}
      onClick={() => change(isOwn ? others : { ...others, compare: !isOn })}
    >
      <History aria-hidden="true" />
      {words.compare}
    </Button>
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
  const { from, to, at } = search;
  if ((from !== undefined && to !== undefined) || at !== undefined) {
    // Neither ends now, so that the time of now does not matter.
    const shown = isoInterval(intervalShown(search, configuration, 0));
    return `${formats.instant(shown.from, zone)} – ${formats.instant(shown.to, zone)} · ${zone}`;
  }
  return `${words.last[search.range ?? savedRange(configuration)]} · ${zone}`;
}

function ZoneChoice({
  search,
  ownZone,
  change,
}: Pick<RangeBarProps, 'search' | 'ownZone' | 'change'>) {
  const words = useWords(dashboardsWords);
  const mine = browserZone;
  if (mine === ownZone) return null;
  const { tz, ...others } = search;
  return (
    <ZoneSelect
      label={words.zone}
      value={tz ?? 'own'}
      options={[
        { value: 'own', label: `${words.zoneOf.own}: ${ownZone}` },
        { value: 'mine', label: `${words.zoneOf.mine}: ${mine}` },
      ]}
      choose={(chosen) => change(chosen === 'mine' ? { ...others, tz: chosen } : others)}
    />
  );
}
