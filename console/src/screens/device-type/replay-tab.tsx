// Replay tab: how many stored uplinks give the same samples with the edited decoder, and which differ.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Chip } from '../../parts/chip.tsx';
import { Segments } from '../../parts/choice.tsx';
import { Answered, Bone, Empty } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import styles from './replay.module.css';
import { useEditedType } from './edited-type.tsx';
import { ReplayedRow } from './replayed-row.tsx';
import { type Replay, replayBody, replayOf } from './replay-requests.ts';
import { replayLimits, type Verdict } from './replay-search.ts';
import { replayWords } from './replay-words.ts';

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
      <p role="status" className={styles['summary']}>
        <strong>{words.summary(formats.count(same), formats.count(different))}</strong>
        {errors > 0 && <Chip tone="bad">{words.errors(formats.count(errors), errors)}</Chip>}
        <span className="mute num">
          {words.took(
            formats.count(summary.uplinks),
            formats.count(summary.devices),
            formats.count(summary.durationMs),
          )}
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
