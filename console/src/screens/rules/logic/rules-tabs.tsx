// Tabs of the section: rules, and the custom logic blocks that they use.
import { Tabs } from '../../../ui/choice.tsx';
import { useWords } from '../../../words/language.tsx';
import { rulesWords } from '../rules-words.ts';
import { logicWords } from './logic-words.ts';

export function RulesTabs({ workspaceId }: { readonly workspaceId: string }) {
  const rules = useWords(rulesWords).title;
  const logic = useWords(logicWords).title;
  const params = { workspaceId };
  return (
    <Tabs
      label={rules}
      tabs={[
        { label: rules, link: { to: '/w/$workspaceId/rules', params } },
        { label: logic, link: { to: '/w/$workspaceId/rules/logic', params } },
      ]}
    />
  );
}
