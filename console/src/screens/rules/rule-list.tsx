// Rules: every rule of the workspace, whether it is on, what it does in a sentence, and its last run.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ask, platform } from '../../api/platform.ts';
import { Ago } from '../../ui/ago.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { ListPage, ListSearchField, PagedList } from '../../ui/paged-list.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useMayDo } from '../../session/permissions.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import { RulesTabs } from './rule-frame.tsx';
import { draftOf, type Rule } from './rule-model.ts';
import { type RuleItem, rulesOf } from './rule-requests.ts';
import { sentenceOf } from './rule-sentence.ts';
import styles from './rules.module.css';
import { rulesWords } from './rules-words.ts';
import { OutcomeChip } from './rule-runs.tsx';
import { useAction } from '../../ui/use-action.ts';

const route = '/signed-in/shell/w/$workspaceId/rules';

export function Rules() {
  const words = useWords(rulesWords);
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const rules = useQuery(rulesOf(workspaceId, search));
  const path = `/v3/rules?workspaceId=${workspaceId}`;
  const add = (
    <ButtonLink look="primary" to="/w/$workspaceId/rules/new" params={{ workspaceId }}>
      <Plus aria-hidden="true" />
      {words.add}
    </ButtonLink>
  );
  return (
    <ListPage words={words} answer={rules} path={path} actions={add}>
      <RulesTabs workspaceId={workspaceId} />
      <ListSearchField label={words.search} />
      <PagedList
        answer={rules}
        path={path}
        headers={[words.state, words.rule, words.lastRun]}
        hasControl
        words={words}
        add={add}
        row={(rule) => <RuleRow rule={rule} />}
      />
    </ListPage>
  );
}

function RuleRow({ rule }: { readonly rule: RuleItem }) {
  const editor = useWords(editorWords);
  const { id, workspaceId, name } = rule;
  return (
    <tr>
      <td>
        <Switch rule={rule} />
      </td>
      <th scope="row">
        <Link to="/w/$workspaceId/rules/$ruleId/edit" params={{ workspaceId, ruleId: id }}>
          {name}
        </Link>
        <small className="mute">{sentenceOf(draftOf(rule), editor)}</small>
      </th>
      <td>{rule.health && <LastRun health={rule.health} />}</td>
    </tr>
  );
}

function Switch({ rule }: { readonly rule: Rule }) {
  const words = useWords(rulesWords);
  const known = useQueryClient();
  const { id, name, active, version } = rule;
  const mayTurn = useMayDo('rule: update');
  const turn = useAction({
    mutationFn: () =>
      ask(
        platform.PUT('/v3/rules/{id}', {
          params: { path: { id } },
          body: { active: !active, version },
        }),
      ),
    onSuccess: () => toast(active ? words.turnedOff(name) : words.turnedOn(name)),
    onError: toastFailure,
    onSettled: () => {
      void known.invalidateQueries({ queryKey: ['rule', id] });
      return known.invalidateQueries({ queryKey: ['rules'] });
    },
  });
  return (
    <button
      type="button"
      role="switch"
      aria-checked={active}
      aria-label={words.turn(name)}
      disabled={turn.isPending || !mayTurn}
      className={styles['switch']}
      onClick={() => turn.mutate()}
    >
      <span aria-hidden="true" />
    </button>
  );
}

/** How its newest run ended, and how often it fired in 24 hours. */
function LastRun({ health }: { readonly health: NonNullable<RuleItem['health']> }) {
  const words = useWords(rulesWords);
  const { count } = useFormats();
  const { lastRun, firedIn24h } = health;
  if (lastRun === null) return <span className="faint">{words.notRun}</span>;
  return (
    <span className="row inline gap-8 nowrap">
      <OutcomeChip outcome={lastRun.outcome} />
      <Ago at={lastRun.timestamp} />
      {firedIn24h > 0 && <span className="mute num">{words.actedToday(count(firedIn24h))}</span>}
    </span>
  );
}
