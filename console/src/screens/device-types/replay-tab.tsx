// Replay tab: how many stored uplinks give the same samples with the edited decoder, and which differ.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Chip, type Tone } from '../../ui/chip.tsx';
import { Segments } from '../../ui/choice.tsx';
import { Answered, Bone, Empty } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { DiffBlock } from './results.tsx';
import { useEditedType } from './edited-type.tsx';
import { type DiffLine, diffLines, linesOf } from './json-lines.ts';
import { replayLimits, type Verdict } from './type-search.ts';
import styles from './replay.module.css';
import { replayWords } from './device-type-words.ts';

// Replay: the edited decoder on the newest stored uplinks of the type's devices; nothing is stored.

type Replay = components['schemas']['Replay'];
type ReplayedUplink = Replay['uplinks'][number];

/** `code` is the changed decoder; null runs the stored one. */
function replayBody(code: string | null, limit: number) {
  return { limit, ...(code === null ? {} : { uplinkScript: { code } }) };
}

const replayOf = (typeId: string, code: string | null, limit: number) =>
  queryOptions({
    queryKey: ['replay', typeId, limit, code],
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    gcTime: 0,
    queryFn: ({ signal }) =>
      ask(
        platform.POST('/v3/device-types/{id}/replay', {
          signal,
          params: { path: { id: typeId } },
          body: replayBody(code, limit),
        }),
      ),
  });

/** Names of devices of this workspace, at most 50 as in a replay. */
const namesOfDevices = (workspaceId: string, ids: readonly string[]) =>
  queryOptions({
    queryKey: ['device-names', workspaceId, ids],
    enabled: ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const { content } = await ask(
        platform.GET('/v3/assets', {
          signal,
          params: { query: { workspaceId, assetIds: [...ids], size: 50, fields: 'id,name' } },
        }),
      );
      return new Map(content.map(({ id, name }) => [id, name]));
    },
  });

// Replayed uplink: its payload, the samples as stored and as the edited decoder makes them, side by side.

const tones: Readonly<Record<Verdict, Tone>> = {
  SAME: 'ok',
  DIFFERENT: 'warn',
  ERROR: 'bad',
  UNKNOWN: 'plain',
};

interface ReplayedRowProps {
  readonly uplink: ReplayedUplink;
  /** All devices of the list, whose names one request asks for. */
  readonly deviceIds: readonly string[];
  readonly isOpen: boolean;
}

function ReplayedRow({ uplink, deviceIds, isOpen: isOpenAtFirst }: ReplayedRowProps) {
  const words = useWords(replayWords);
  const formats = useFormats();
  const { workspaceId } = useEditedType();
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const names = useQuery(namesOfDevices(workspaceId, deviceIds)).data;
  const { deviceId, timestamp, verdict, payload } = uplink;
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <Chip tone={tones[verdict]}>{words.verdicts[verdict]}</Chip>
          <b>{names?.get(deviceId) ?? deviceId}</b>
          <span className="num mute">{formats.instant(timestamp)}</span>
          <span className={styles['payload']}>{JSON.stringify(payload)}</span>
        </summary>
        {isOpen && <Sides uplink={uplink} />}
      </details>
    </li>
  );
}

function Sides({ uplink: { oldSamples, newSamples, notes } }: Pick<ReplayedRowProps, 'uplink'>) {
  const words = useWords(replayWords);
  const lines = diffLines(linesOf(oldSamples ?? []), linesOf(newSamples));
  const without = (kind: DiffLine['kind']) => lines.filter((line) => line.kind !== kind);
  return (
    <>
      {notes.map(({ level, message }) => (
        <p key={message} className={level === 'ERROR' ? styles['error'] : styles['note']}>
          {message}
        </p>
      ))}
      <div className={styles['sides']}>
        <section>
          <h3>{words.storedSamples}</h3>
          {oldSamples === null ? (
            <p className="mute">{words.unknownNote}</p>
          ) : (
            <DiffBlock lines={without('new')} label={words.storedSamples} />
          )}
        </section>
        <section>
          <h3>{words.newSamples}</h3>
          <DiffBlock lines={without('gone')} label={words.newSamples} />
        </section>
      </div>
    </>
  );
}

const route = getRouteApi('/signed-in/shell/w/$workspaceId/types/$typeId/replay');

export function ReplayTab() {
  const words = useWords(replayWords);
  const formats = useFormats();
  const { type, drafts } = useEditedType();
  const { limit = replayLimits[0], show } = route.useSearch();
  const navigate = useNavigate();
  const draft = drafts.uplinkScript;
  const code = draft.isChanged ? draft.code : null;
  const answer = useQuery(replayOf(type.id, code, limit));
  const path = `/v3/device-types/${type.id}/replay`;
  return (
    <Card
      title={words.title}
      note={draft.isChanged ? words.edited : words.stored}
      actions={
        <>
          <Segments
            label={words.howMany}
            value={String(limit)}
            options={replayLimits.map((value) => ({
              value: String(value),
              label: formats.count(value),
            }))}
            choose={(value) =>
              void navigate({
                to: '.',
                search: { ...(show === undefined ? {} : { show }), limit: Number(value) },
                replace: true,
              })
            }
          />
          <Button disabled={answer.isFetching} onClick={() => void answer.refetch()}>
            <RotateCw aria-hidden="true" />
            {words.again}
          </Button>
        </>
      }
    >
      <Answered
        answer={answer}
        curl={{ method: 'POST', path, body: replayBody(code, limit) }}
        skeleton={<Skeleton />}
      >
        {(replay) =>
          replay.uplinks.length === 0 ? (
            <Empty title={words.empty} note={words.emptyNote} />
          ) : (
            <Verdicts replay={replay} show={show} limit={limit} />
          )
        }
      </Answered>
    </Card>
  );
}

interface VerdictsProps {
  readonly replay: Replay;
  readonly show: Verdict | undefined;
  readonly limit: number;
}

function Verdicts({ replay: { summary, uplinks }, show, limit }: VerdictsProps) {
  const words = useWords(replayWords);
  const formats = useFormats();
  const navigate = useNavigate();
  const counts = {
    DIFFERENT: summary.different,
    ERROR: summary.errors,
    UNKNOWN: summary.unknown,
    SAME: summary.same,
  };
  const first = (Object.keys(counts) as Verdict[]).find((verdict) => counts[verdict] > 0) ?? 'SAME';
  const shown = show ?? first;
  const { different, same, errors } = summary;
  return (
    <div className={styles['verdicts']}>
      <p role="status" className="row wrap gap-y-4 gap-x-12">
        <strong>{words.summary(formats.count(same), formats.count(different))}</strong>
        {errors > 0 && <Chip tone="bad">{words.errors(formats.count(errors), errors)}</Chip>}
        <span className="mute num">
          {words.took(summary.uplinks, summary.devices, formats.count(summary.durationMs))}
        </span>
        {!summary.complete && <Chip tone="warn">{words.incomplete}</Chip>}
      </p>
      <Segments
        label={words.show}
        value={shown}
        options={(Object.keys(counts) as Verdict[]).map((value) => ({
          value,
          label: `${words.verdicts[value]} ${formats.count(counts[value])}`,
        }))}
        choose={(value) =>
          void navigate({ to: '.', search: { limit, show: value }, replace: true })
        }
      />
      <Rows
        key={shown}
        none={words.none}
        uplinks={uplinks.filter(({ verdict }) => verdict === shown)}
      />
    </div>
  );
}

const rowsStep = 50;

function Rows({ uplinks, none }: { readonly uplinks: Replay['uplinks']; readonly none: string }) {
  const words = useWords(replayWords);
  const [many, setMany] = useState(rowsStep);
  if (uplinks.length === 0) return <p className="mute">{none}</p>;
  const deviceIds = [...new Set(uplinks.map(({ deviceId }) => deviceId))];
  return (
    <>
      <ul className={styles['rows']}>
        {uplinks.slice(0, many).map((uplink, at) => (
          <ReplayedRow key={uplink.id} uplink={uplink} deviceIds={deviceIds} isOpen={at === 0} />
        ))}
      </ul>
      {uplinks.length > many && (
        <Button onClick={() => setMany(many + rowsStep)}>{words.more}</Button>
      )}
    </>
  );
}

function Skeleton() {
  return (
    <div className={styles['verdicts']}>
      <Bone width="16em" />
      <Bone width="22em" />
    </div>
  );
}
