// Dashboard frame: the data of all tiles for one range and zone, around what shows them.
import { type ReactNode, useMemo } from 'react';
import { Sheet } from '../../ui/card.tsx';
import { TextField } from '../../ui/field.tsx';
import { Bone, Failure } from '../../ui/states.tsx';
import { usePageZone, useWords } from '../../words/language.tsx';
import type { Configuration } from '../../../../src/dashboards/configuration.ts';
import { boundTiles } from '../../../../src/dashboards/variables.ts';
import type { ShownVariables } from './variable-values.ts';
import type { DashboardSearch } from './dashboard-search.ts';
import { dashboardsWords } from './dashboards-words.ts';
import styles from './dashboards.module.css';
import { compareShown, intervalShown, refreshMsOf, savedRange } from './data/dashboard-range.ts';
import { type ShownRange, useDashboardData } from './data/use-dashboard-data.ts';
import { type TileAct, TileFrameProvider } from './tiles/tile-data.ts';

interface DashboardFrameProps {
  readonly workspaceId: string;
  readonly dashboardId: string;
  readonly configuration: Configuration;
  readonly variables: ShownVariables;
  /** Tiles that repeat are shown once, in their place. */
  readonly isEditing?: boolean;
  readonly search: DashboardSearch;
  readonly zone: string;
  /** Controls of an earlier version are shown, and send nothing. */
  readonly isEarlier?: boolean;
  /** What the menus of tiles do; without it they only show. */
  readonly act?: (what: TileAct, tileId: string) => void;
  readonly show: (range: Pick<DashboardSearch, 'from' | 'to'>) => void;
  readonly children: ReactNode;
}

export function DashboardFrame(props: DashboardFrameProps) {
  const { workspaceId, dashboardId, configuration, variables, search, zone, show, children } =
    props;
  const { isEditing = false, isEarlier = false, act } = props;
  usePageZone(zone);
  const range = useRange(search, configuration, zone);
  const { values, nameOf, fieldNames } = variables;
  const tiles = useMemo(
    () => boundTiles(isEditing ? withoutCopies(configuration) : configuration, values, nameOf),
    [configuration, isEditing, values, nameOf],
  );
  const fields = { workspaceId, fieldNames };
  const data = useDashboardData(dashboardId, tiles, range, fields, {
    compare: compareShown(search, configuration),
    refreshMs: refreshMsOf(configuration),
  });
  const instant = (seconds: number) => new Date(Math.round(seconds * 1_000)).toISOString();
  const frame = {
    workspaceId,
    tiles,
    data,
    annotations: configuration.annotations,
    isEarlier,
    act,
    zoom: (dragged?: readonly [number, number]) =>
      show(dragged === undefined ? {} : { from: instant(dragged[0]), to: instant(dragged[1]) }),
  };
  return (
    <TileFrameProvider value={frame}>
      {data.error !== null && (
        <Sheet>
          <Failure error={data.error} retry={data.retry} />
        </Sheet>
      )}
      {children}
    </TileFrameProvider>
  );
}

function withoutCopies(configuration: Configuration): Configuration {
  return { ...configuration, tiles: configuration.tiles.map(({ repeat: _, ...tile }) => tile) };
}

function useRange(search: DashboardSearch, configuration: Configuration, zone: string): ShownRange {
  const { from, to, range, at } = search;
  const last = savedRange(configuration);
  return useMemo(
    () => ({
      zone,
      isFixed: from !== undefined || at !== undefined,
      name: `${from === undefined ? (range ?? last) : `${from} ${to ?? ''}`} ${at ?? ''}`,
      at,
      intervalAt: (nowMs) => intervalShown(search, configuration, nowMs),
    }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the range follows from these
    [zone, from, to, range, last, at],
  );
}

// Dashboard bones: what is shown while a dashboard or the list of them is on the way.

export function DashboardBones() {
  return (
    <div className={styles['bones']}>
      <Bone width="100%" />
      <Bone width="70%" />
      <Bone width="85%" />
    </div>
  );
}

// Dashboard name: the field of its name in every dialog that asks for it.

interface DashboardNameProps {
  readonly value: string;
  readonly change: (name: string) => void;
}

export function DashboardName({ value, change }: DashboardNameProps) {
  const words = useWords(dashboardsWords);
  return (
    <TextField
      label={words.name}
      required
      maxLength={200}
      value={value}
      onChange={({ target }) => change(target.value)}
    />
  );
}
