// Calculations: every group calculation of the workspace, and how far each is.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ButtonLink } from '../../../ui/button.tsx';
import { Chip } from '../../../ui/chip.tsx';
import { CurlButton } from '../../../ui/copy-button.tsx';
import { Page } from '../../../ui/page.tsx';
import { ListSearchField, PagedList } from '../../../ui/paged-list.tsx';
import { useMayDo } from '../../../session/permissions.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { RulesTabs } from '../rule-frame.tsx';
import { rulesWords } from '../rules-words.ts';
import { type Calculation, calculationsOf } from './calculation-draft.ts';
import { calculationWords } from './calculation-words.ts';

const route = '/signed-in/shell/w/$workspaceId/rules/calculations';

export function Calculations() {
  const words = useWords(calculationWords);
  const rules = useWords(rulesWords).title;
  const { workspaceId } = useParams({ from: route });
  const calculations = useQuery(calculationsOf(workspaceId, useSearch({ from: route })));
  const path = `/v3/calculations?workspaceId=${workspaceId}`;
  const mayAdd = useMayDo('rule: create');
  const add = mayAdd && (
    <ButtonLink look="primary" to="/w/$workspaceId/rules/calculations/new" params={{ workspaceId }}>
      <Plus aria-hidden="true" />
      {words.add}
    </ButtonLink>
  );
  return (
    <Page
      title={rules}
      name={words.title}
      path={[rules, words.title]}
      actions={
        <>
          <CurlButton request={{ path }} />
          {add}
        </>
      }
    >
      <RulesTabs workspaceId={workspaceId} />
      <div className="flow">
        <ListSearchField label={words.search} />
      </div>
      <PagedList
        answer={calculations}
        path={path}
        headers={[words.name, words.period, words.progress]}
        words={words}
        add={add}
        row={(calculation) => <CalculationRow calculation={calculation} />}
      />
    </Page>
  );
}

function CalculationRow({ calculation }: { readonly calculation: Calculation }) {
  const words = useWords(calculationWords);
  const { id, workspaceId, name, description, period, progress } = calculation;
  const { instant } = useFormats();
  const params = { workspaceId, calculationId: id };
  return (
    <tr>
      <th scope="row">
        <Link to="/w/$workspaceId/rules/calculations/$calculationId" params={params}>
          {name}
        </Link>
        {description !== null && <small className="mute">{description}</small>}
      </th>
      <td>{periodText(period, words.periods)}</td>
      <td>
        <span className="row inline gap-8 wrap">
          <CalculationChip calculation={calculation} />
          {progress.computedTo === null ? words.waiting : instant(progress.computedTo)}
        </span>
      </td>
    </tr>
  );
}

/** A period that has no words is shown as it is. */
export function periodText(period: string, names: Readonly<Record<string, string>>): string {
  return Object.hasOwn(names, period) ? (names[period] ?? period) : period;
}

/** Seconds after the end of a period until it counts as late. */
const behindSeconds = 120;

export function CalculationChip({ calculation }: { readonly calculation: Calculation }) {
  const words = useWords(calculationWords);
  const { active, progress } = calculation;
  if (!active) return <Chip tone="plain">{words.off}</Chip>;
  if (progress.error !== null) return <Chip tone="bad">{words.failed}</Chip>;
  if (progress.lagSeconds > behindSeconds) return <Chip tone="warn">{words.behind}</Chip>;
  return <Chip tone="ok">{words.on}</Chip>;
}
