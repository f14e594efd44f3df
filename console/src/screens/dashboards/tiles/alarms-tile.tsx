// Alarms tile: the alarms of the devices of the tile, or of the workspace, the newest first.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { devicesOf } from '../../../../../src/dashboards/plan.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { alarmsKey } from '../../../api/alarms.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Ago } from '../../../ui/ago.tsx';
import { AlarmStateChip, Severity } from '../../../ui/severity.tsx';
import { useWords } from '../../../words/language.tsx';
import { useReader } from '../dashboard-requests.ts';
import { useTileFrame, useTitleOf } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const rowsMax = 50;
const devicesMax = 200;
const refreshMs = 60_000;
const notCleared = 'OPEN,ACKNOWLEDGED';

export function AlarmsTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(tileWords);
  const titleOf = useTitleOf();
  const { isShared } = useReader();
  const { workspaceId, data } = useTileFrame();
  const { at } = data.range;
  const devices = devicesOf([tile], data.devices).slice(0, devicesMax);
  const isNone = tile.sources.length > 0 && devices.length === 0;
  const query = {
    workspaceId,
    size: rowsMax,
    ...(at === undefined ? { state: notCleared } : { openAt: at }),
    ...filterOf(tile, at !== undefined),
    ...(devices.length === 0 ? {} : { deviceId: devices.join() }),
  };
  const found = useQuery({
    queryKey: [...alarmsKey(workspaceId), 'tile', query],
    enabled: !isShared && !isNone,
    refetchInterval: at === undefined ? refreshMs : false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => ask(platform.GET('/v3/alarms', { signal, params: { query } })),
  });
  if (isShared) return <p className={styles['note']}>{words.needsSignIn}</p>;
  const alarms = found.data?.content ?? [];
  if (alarms.length === 0)
    return <p className={styles['note']}>{found.isPending && !isNone ? '' : words.noAlarms}</p>;
  const more = (found.data?.totalElements ?? 0) - alarms.length;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <div className={styles['scroll']} role="group" aria-label={titleOf(tile)} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.severity}</th>
            <th scope="col">{words.alarm}</th>
            <th scope="col">{words.device}</th>
            <th scope="col">{words.state}</th>
            <th scope="col">{words.triggered}</th>
          </tr>
        </thead>
        <tbody>
          {alarms.map(({ id, severity, name, device, state, lastTriggered }) => (
            <tr key={id}>
              <td>
                <Severity of={severity} />
              </td>
              <th scope="row">
                <Link to="/w/$workspaceId/alarms/$alarmId" params={{ workspaceId, alarmId: id }}>
                  {name}
                </Link>
              </th>
              <td>{device?.name}</td>
              <td>
                <AlarmStateChip of={state} />
              </td>
              <td className="mute">
                <Ago at={lastTriggered} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p className={styles['note']}>{words.more(more)}</p>}
    </div>
  );
}

const parameters = ['state', 'severity', 'ruleId', 'search'] as const;

/**
 * Parameters of the list of alarms, each a text or a list of texts. The list knows the states of
 * now, so that those of the tile mean nothing for an earlier time.
 */
function filterOf(
  { filter }: BoundTile,
  isPast: boolean,
): Partial<Record<(typeof parameters)[number], string>> {
  const named = parameters.flatMap((name) => {
    if (isPast && name === 'state') return [];
    const texts = [filter?.[name] ?? []].flat().filter((one) => typeof one === 'string');
    return texts.length === 0 ? [] : [[name, texts.join()] as const];
  });
  return Object.fromEntries(named);
}
