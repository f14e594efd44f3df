// Rule frame: title, tabs, and actions around the pages of one rule, and the tabs of the section.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import type { ReactNode } from 'react';
import type { CurlRequest } from '../../api/curl.ts';
import { Ago } from '../../ui/ago.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Tabs } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { late } from '../../ui/late.tsx';
import { Page } from '../../ui/page.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { calculationWords } from './calculations/calculation-words.ts';
import { logicWords } from './logic/logic-words.ts';
import type { Rule } from './rule-model.ts';
import { ruleOf, runsOf } from './rule-requests.ts';
import { rulesWords } from './rules-words.ts';

interface FrameProps {
  readonly workspaceId: string;
  readonly ruleId: string;
  /** The request behind the page, with its path below the rule's own. */
  readonly request?: CurlRequest;
  readonly children: (rule: Rule) => ReactNode;
}

export function RuleFrame({ workspaceId, ruleId, request = { path: '' }, children }: FrameProps) {
  const words = useWords(rulesWords);
  const rule = useQuery(ruleOf(ruleId));
  const path = `/v3/rules/${ruleId}`;
  const name = rule.data?.name ?? words.title;
  const params = { workspaceId, ruleId };
  return (
    <Page
      isWide
      title={rule.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[<RulesLink key="rules" workspaceId={workspaceId} />, name]}
      lead={rule.data === undefined ? <Bone /> : <Lead rule={rule.data} />}
      actions={
        <>
          {rule.data !== undefined && <WhyOfRule workspaceId={workspaceId} rule={rule.data} />}
          <CurlButton request={{ ...request, path: `${path}${request.path}` }} />
          <ButtonLink to="/w/$workspaceId/rules/$ruleId/simulate" params={params}>
            <FlaskConical aria-hidden="true" />
            {words.tryWeek}
          </ButtonLink>
        </>
      }
    >
      <RuleTabs {...params} />
      <Answered answer={rule} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => children(found)}
      </Answered>
    </Page>
  );
}

const Why = late('Why', async () => (await import('../why/why.tsx')).Why);

/** For the device of the last run, else the first one that the rule reads. */
function WhyOfRule({ workspaceId, rule }: { readonly workspaceId: string; readonly rule: Rule }) {
  const last = useQuery(runsOf(rule.id, 1)).data?.content[0];
  const input = rule.inputs.find(({ type }) => type === 'DEVICE');
  const deviceId = last?.deviceId ?? input?.id;
  if (deviceId === undefined) return null;
  return <Why workspaceId={workspaceId} deviceId={deviceId} question={{ ruleId: rule.id }} />;
}

export function RulesLink({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(rulesWords);
  return (
    <Link to="/w/$workspaceId/rules" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
}

function Lead({ rule: { id, active } }: { readonly rule: Rule }) {
  const words = useWords(rulesWords);
  const last = useQuery(runsOf(id, 1));
  const run = last.data?.content[0];
  return (
    <>
      <Chip tone={active ? 'ok' : 'plain'}>{active ? words.on : words.off}</Chip>
      {last.data !== undefined &&
        (run === undefined ? (
          words.notRun
        ) : (
          <span>
            {words.lastRunAt} <Ago at={run.timestamp} />
          </span>
        ))}
    </>
  );
}

function RuleTabs(params: { readonly workspaceId: string; readonly ruleId: string }) {
  const words = useWords(rulesWords);
  return (
    <Tabs
      label={words.tabs}
      tabs={[
        { label: words.edit, link: { to: '/w/$workspaceId/rules/$ruleId/edit', params } },
        { label: words.runs, link: { to: '/w/$workspaceId/rules/$ruleId/runs', params } },
        { label: words.simulate, link: { to: '/w/$workspaceId/rules/$ruleId/simulate', params } },
      ]}
    />
  );
}

// Tabs of the section: rules, the custom logic blocks that they use, and calculations.

export function RulesTabs({ workspaceId }: { readonly workspaceId: string }) {
  const rules = useWords(rulesWords).title;
  const logic = useWords(logicWords).title;
  const calculations = useWords(calculationWords).title;
  const params = { workspaceId };
  return (
    <Tabs
      label={rules}
      tabs={[
        { label: rules, link: { to: '/w/$workspaceId/rules', params } },
        { label: logic, link: { to: '/w/$workspaceId/rules/logic', params } },
        { label: calculations, link: { to: '/w/$workspaceId/rules/calculations', params } },
      ]}
    />
  );
}
