// Runs of a rule: what it saw, what it did, and why not.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useLogEvents } from '../../session/use-workspace-events.ts';
import { Card } from '../../ui/card.tsx';
import { Dot } from '../../ui/chip.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Answered, Bone, Empty } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { RuleFrame } from './rule-frame.tsx';
import { runsKey, runsOf } from './rule-requests.ts';
import { rulesWords } from './rules-words.ts';
import { RunRows } from './run-rows.tsx';

const route = '/signed-in/shell/w/$workspaceId/rules/$ruleId/runs';
const runRows = 50;

export function RuleRuns() {
  const { workspaceId, ruleId } = useParams({ from: route });
  const { page = 0 } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/w/$workspaceId/rules/$ruleId/runs' });
  return (
    <RuleFrame workspaceId={workspaceId} ruleId={ruleId} request={{ path: '/runs' }}>
      {() => (
        <RunCard
          workspaceId={workspaceId}
          ruleId={ruleId}
          size={runRows}
          page={page}
          go={(to) => void navigate({ search: { page: to } })}
        />
      )}
    </RuleFrame>
  );
}

interface RunCardProps {
  readonly workspaceId: string;
  readonly ruleId: string;
  readonly size: number;
  readonly page?: number;
  /** Without it only the first page is shown. */
  readonly go?: (page: number) => void;
}

export function RunCard({ workspaceId, ruleId, size, page = 0, go }: RunCardProps) {
  const words = useWords(rulesWords);
  const runs = useQuery(runsOf(ruleId, size, page));
  useLogEvents({
    workspaceId,
    kind: 'RULE_RUN',
    key: runsKey(ruleId),
    isOf: ({ rule }) => (rule as { readonly id: string }).id === ruleId,
  });
  const path = `/v3/rules/${ruleId}/runs`;
  return (
    <Card title={words.lastRuns} note={words.lastRunsNote} mark={<Dot tone="live" />}>
      <Answered answer={runs} curl={{ path }} skeleton={<Bone width="100%" />}>
        {({ content, totalPages }) =>
          content.length === 0 ? (
            <Empty title={words.noRuns} note={words.noRunsNote} />
          ) : (
            <>
              <RunRows workspaceId={workspaceId} runs={content} />
              {go !== undefined && <Pager page={page} pages={totalPages} go={go} />}
            </>
          )
        }
      </Answered>
    </Card>
  );
}
