// Custom logic: every block of the organization with what it reads.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { useAccount } from '../../../session/session.ts';
import { Ago } from '../../../ui/ago.tsx';
import { Button } from '../../../ui/button.tsx';
import { CurlButton } from '../../../ui/copy-button.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormDialog } from '../../../ui/dialog.tsx';
import { Page } from '../../../ui/page.tsx';
import { ListSearchField, PagedList } from '../../../ui/paged-list.tsx';
import { useFormSave } from '../../../ui/use-form-save.ts';
import { useWords } from '../../../words/language.tsx';
import { rulesWords } from '../rules-words.ts';
import { bodyOf, type LogicItem, logicsOf, newLogic } from './logic-draft.ts';
import { logicWords } from './logic-words.ts';
import { RulesTabs } from '../rule-frame.tsx';

const route = '/signed-in/shell/w/$workspaceId/rules/logic';

export function LogicList() {
  const words = useWords(logicWords);
  const rules = useWords(rulesWords).title;
  const { organizationId } = useAccount();
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const [isCreating, setCreating] = useState(false);
  const logics = useQuery(logicsOf(organizationId, search));
  const path = `/v3/rules/custom?organizationId=${organizationId}`;
  const add = (
    <Button needs="customLogic: create" look="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden="true" />
      {words.add}
    </Button>
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
        answer={logics}
        path={path}
        headers={[words.name, words.inputs, words.changed]}
        words={words}
        add={add}
        row={(logic) => <LogicRow logic={logic} workspaceId={workspaceId} />}
      />
      {isCreating && <NewLogic workspaceId={workspaceId} close={() => setCreating(false)} />}
    </Page>
  );
}

interface LogicRowProps {
  readonly logic: LogicItem;
  readonly workspaceId: string;
}

function LogicRow({ logic, workspaceId }: LogicRowProps) {
  const words = useWords(logicWords);
  const { id, name, description, dataSources, properties, created, updated } = logic;
  return (
    <tr>
      <th scope="row">
        <Link to="/w/$workspaceId/rules/logic/$logicId" params={{ workspaceId, logicId: id }}>
          {name}
        </Link>
        {description !== null && <small className="mute">{description}</small>}
      </th>
      <td>{words.counts(dataSources.length, properties.length)}</td>
      <td>
        <Ago at={updated ?? created} />
      </td>
    </tr>
  );
}

// New custom logic: its name; the editor opens with a script that runs.

interface NewLogicProps {
  readonly workspaceId: string;
  readonly close: () => void;
}

function NewLogic({ workspaceId, close }: NewLogicProps) {
  const words = useWords(logicWords);
  const { organizationId } = useAccount();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const { save, isBusy, error } = useFormSave({
    send: () => {
      const body = { ...bodyOf(newLogic(name.trim(), description.trim())), organizationId };
      return ask(platform.POST('/v3/rules/custom', { body }));
    },
    refreshes: [['custom-logic']],
    message: (saved) => words.created(saved.name),
    open: ({ id: logicId }) =>
      navigate({
        to: '/w/$workspaceId/rules/logic/$logicId',
        params: { workspaceId, logicId },
      }),
  });
  return (
    <FormDialog
      title={words.add}
      submitLabel={words.create}
      submit={save}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <TextField
        label={words.name}
        value={name}
        required
        maxLength={255}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <TextField
        label={words.description}
        value={description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
      />
    </FormDialog>
  );
}
