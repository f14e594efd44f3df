// Devices tile: a row for each device, with the newest value of each column.
import { Link } from '@tanstack/react-router';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { useDevicesById } from '../../../api/workspace-records.ts';
import { useWords } from '../../../words/language.tsx';
import { useReader } from '../dashboard-requests.ts';
import { Spark } from '../../../ui/spark.tsx';
import { colorIn } from '../../../../../src/dashboards/plot.ts';
import { newestValue, sparkOf } from '../data/tile-values.ts';
import { Shown } from './value-tiles.tsx';
import { useTileFrame, useTileSeries, useTitleOf } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const rowsMax = 100;
const columnsMax = 50;

export function DevicesTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(tileWords);
  const titleOf = useTitleOf();
  const { isShared } = useReader();
  const { workspaceId, data } = useTileFrame();
  const columns = tile.columns ?? [];
  const { series } = useTileSeries(tile, rowsMax * columnsMax * 2);
  const rows = [...Map.groupBy(series, ({ deviceId }) => deviceId)];
  const shown = rows.slice(0, rowsMax);
  const known = useDevicesById(workspaceId, isShared ? [] : shown.map(([id]) => id));
  if (rows.length === 0)
    return <p className={styles['note']}>{data.isLoading ? '' : words.noDevices}</p>;
  const named = shown
    .map(([id, cells]) => ({ id, cells, name: known.get(id)?.name ?? '' }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <div className={styles['scroll']} role="group" aria-label={titleOf(tile)} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.device}</th>
            {columns.map(({ dataKey, label }, at) => (
              // oxlint-disable-next-line react/no-array-index-key -- a column may be named twice
              <th key={at} scope="col">
                {label || dataKey}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {named.map(({ id, name, cells }) => (
            <tr key={id}>
              <th scope="row">
                {isShared ? (
                  name || words.device
                ) : (
                  <Link
                    to="/w/$workspaceId/devices/$deviceId/overview"
                    params={{ workspaceId, deviceId: id }}
                  >
                    {name || id}
                  </Link>
                )}
              </th>
              {cells.map((cell, at) => (
                // oxlint-disable-next-line react/no-array-index-key -- a column may be named twice
                <td key={at} className="num">
                  <Shown value={newestValue(cell, data)?.value} />
                  {columns[at]?.spark === true && (
                    <span className={styles['cellSpark']}>
                      <Spark
                        points={sparkOf(cell, data)}
                        color={`var(${colorIn(undefined, at)})`}
                      />
                    </span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && (
        <p className={styles['note']}>{words.more(rows.length - shown.length)}</p>
      )}
    </div>
  );
}
