// Custom logic page: the script with its trial, its inputs and properties, and the rules that use it.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { faultsOf } from '../../../api/field-faults.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Card } from '../../../parts/card.tsx';
import { Chip } from '../../../parts/chip.tsx';
import { CurlButton } from '../../../parts/curl-button.tsx';
import { NameFields } from '../../../parts/name-fields.tsx';
import { Page } from '../../../parts/page.tsx';
import { RemoveRecord } from '../../../parts/remove-record.tsx';
import { Answered, Bone, Empty } from '../../../parts/states.tsx';
import { UnsavedBar } from '../../../parts/unsaved-bar.tsx';
import { useEditor } from '../../../parts/use-editor.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { bodyOf, draftOf, type LogicDraft } from './logic-draft.ts';
import { LogicInputs } from './logic-inputs.tsx';
import { LogicProperties } from './logic-properties.tsx';
import { type Logic, logicOf } from './logic-requests.ts';
import { LogicScript } from './logic-script.tsx';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';

const route = '/signed-in/shell/w/$workspaceId/rules/logic/$logicId';

export function LogicPage() {
  const words = useWords(logicWords);
  const { workspaceId, logicId } = useParams({ from: route });
  const logic = useQuery(logicOf(logicId));
  const path = `/v3/rules/custom/${logicId}`;
  const name = logic.data?.name ?? words.title;
  const list = (
    <Link key="list" to="/w/$workspaceId/rules/logic" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  return (
    <Page
      isWide
      title={logic.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[list, name]}
      lead={logic.data === undefined ? <Bone /> : <Lead logic={logic.data} />}
      actions={<CurlButton request={{ path }} />}
    >
      <Answered answer={logic} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => (
          <>
            <LogicEditor key={found.id} logic={found} workspaceId={workspaceId} />
            <UsedBy logic={found} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function Lead({ logic: { rules } }: { readonly logic: Logic }) {
  const words = useWords(logicWords);
  const { count } = useFormats();
  return rules.length === 0 ? words.unused : words.lead(count(rules.length), rules.length);
}

interface LogicEditorProps {
  readonly logic: Logic;
  readonly workspaceId: string;
}

function LogicEditor({ logic, workspaceId }: LogicEditorProps) {
  const words = useWords(logicWords);
  const { id, version, rules } = logic;
  const editor = useEditor<LogicDraft, Logic>({
    key: `custom logic ${id}`,
    saved: draftOf(logic),
    version,
    record: logicOf(id).queryKey,
    list: ['custom-logic'],
    send: (draft, from) => {
      const body = { ...bodyOf(draft), ...from };
      return ask(platform.PUT('/v3/rules/custom/{id}', { params: { path: { id } }, body }));
    },
  });
  const { value: draft, change } = editor;
  const faults = faultsOf(editor.error);
  const parts = { draft, change, faults };
  return (
    <>
      <div className={styles['head']}>
        <NameFields {...parts} />
      </div>
      <LogicScript
        draft={draft}
        change={change}
        save={() => {
          if (editor.isChanged) editor.save();
        }}
      />
      {rules.some(({ active }) => active) && <p className="mute">{words.fixed}</p>}
      <div className={styles['halves']}>
        <LogicInputs {...parts} />
        <LogicProperties {...parts} />
      </div>
      <UnsavedBar needs="customLogic: update" editor={editor}>
        <RemoveRecord
          needs="customLogic: delete"
          name={logic.name}
          note={words.removeNote}
          send={() => ask(platform.DELETE('/v3/rules/custom/{id}', { params: { path: { id } } }))}
          discard={editor.discard}
          lists={[['custom-logic']]}
          next={{ to: '/w/$workspaceId/rules/logic', params: { workspaceId } }}
        />
      </UnsavedBar>
    </>
  );
}

function UsedBy({ logic: { rules } }: { readonly logic: Logic }) {
  const words = useWords(logicWords);
  return (
    <Card title={words.usedBy}>
      {rules.length === 0 ? (
        <Empty title={words.unused} note={words.unusedNote} />
      ) : (
        <ul className={styles['users']}>
          {rules.map(({ id, workspaceId, name, active }) => (
            <li key={id}>
              <Link to="/w/$workspaceId/rules/$ruleId/edit" params={{ workspaceId, ruleId: id }}>
                {name}
              </Link>
              <Chip tone={active ? 'ok' : 'plain'}>{active ? words.active : words.inactive}</Chip>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
