// Grants: the workspaces and permissions of a key or a client, and the fields of them: presets, and one box for each scope and verb.
import {
  everyPermission,
  type Permissions,
  type Scope,
  scopes,
  type Verb,
  verbs,
  verbsOfScope,
} from '../../../../src/model/principal.ts';
import { useWorkspaces } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Segments } from '../../ui/choice.tsx';
import { CheckField, toggled } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { organizationWords } from './organization-words.ts';
import styles from './grant-fields.module.css';

interface PermissionGridProps {
  readonly permissions: Permissions;
  readonly change: (permissions: Permissions) => void;
}

function PermissionGrid({ permissions, change }: PermissionGridProps) {
  const words = useWords(organizationWords);
  return (
    <div className={styles['scroll']} role="region" aria-label={words.permissions} tabIndex={0}>
      <table className={styles['grid']}>
        <thead>
          <tr>
            <th scope="col">{words.scope}</th>
            {verbs.map((verb) => (
              <th key={verb} scope="col">
                {words.verbs[verb]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {scopes.map((scope) => (
            <tr key={scope}>
              <th scope="row">{scope}</th>
              {verbs.map((verb) => (
                <td key={verb}>
                  <GrantBox scope={scope} verb={verb} permissions={permissions} change={change} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface GrantBoxProps extends PermissionGridProps {
  readonly scope: Scope;
  readonly verb: Verb;
}

function GrantBox({ scope, verb, permissions, change }: GrantBoxProps) {
  const words = useWords(organizationWords);
  if (!verbsOfScope[scope].includes(verb)) return null;
  return (
    <input
      type="checkbox"
      aria-label={`${scope} ${words.verbs[verb]}`}
      checked={permissions[scope]?.includes(verb) === true}
      onChange={() => change(withVerb(permissions, scope, verb))}
    />
  );
}

interface PermissionSentenceProps {
  readonly grantee: Grantee;
  readonly permissions: Permissions;
}

/** What the permissions allow, said as one would say it. */
export function PermissionSentence({ grantee, permissions }: PermissionSentenceProps) {
  const words = useWords(organizationWords);
  const may = words.may[grantee];
  const said = [...grantedByVerb(permissions)].map(
    ([verb, granted]) => `${words.verbs[verb]} ${granted.join(', ')}`,
  );
  return (
    <p className="mute" aria-live="polite">
      {said.length === 0 ? may.nothing : may.do(said.join('; '))}
    </p>
  );
}

// Grant fields: workspaces, presets and the permission grid, for keys and for OAuth clients.

interface GrantFieldsProps {
  readonly grantee: Grantee;
  readonly grant: Grant;
  readonly change: (part: Partial<Grant>) => void;
}

export function GrantFields({ grantee, grant, change }: GrantFieldsProps) {
  const words = useWords(organizationWords);
  return (
    <>
      <WorkspaceChoice grant={grant} change={change} />
      <div className="row wrap gap-8 mute">
        <span>{words.preset}</span>
        {presetNames.map((name) => (
          <Button key={name} onClick={() => change({ permissions: presets[name] })}>
            {words.presets[name]}
          </Button>
        ))}
      </div>
      <PermissionGrid
        permissions={grant.permissions}
        change={(permissions) => change({ permissions })}
      />
      <PermissionSentence grantee={grantee} permissions={grant.permissions} />
    </>
  );
}

function WorkspaceChoice({ grant, change }: Omit<GrantFieldsProps, 'grantee'>) {
  const words = useWords(organizationWords);
  const workspaces = useWorkspaces().data?.content ?? [];
  return (
    <fieldset className={`stack justify-start gap-8 ${styles['workspaces']}`}>
      <legend>{words.workspaces}</legend>
      <Segments
        label={words.workspaces}
        value={grant.allWorkspaces ? 'all' : 'these'}
        options={[
          { value: 'all', label: words.allWorkspaces },
          { value: 'these', label: words.onlyThese },
        ]}
        choose={(value) => change({ allWorkspaces: value === 'all' })}
      />
      {!grant.allWorkspaces &&
        workspaces.map(({ id, name }) => (
          <CheckField
            key={id}
            label={name}
            isOn={grant.workspaceIds.includes(id)}
            change={(isOn) => change({ workspaceIds: toggled(grant.workspaceIds, id, isOn) })}
          />
        ))}
    </fieldset>
  );
}

// Key permissions: the grid of scopes and verbs, its presets, and what it allows in one sentence.

const presetNames = ['read', 'send', 'integrate', 'all'] as const;
type PresetName = (typeof presetNames)[number];

const readable = scopes.filter((scope) => verbsOfScope[scope].includes('read'));

const presets: { readonly [P in PresetName]: Permissions } = {
  read: Object.fromEntries(readable.map((scope) => [scope, ['read']])),
  send: { asset: ['read', 'update'] },
  integrate: {
    workspace: ['read'],
    asset: ['create', 'read', 'update'],
    deviceType: ['read'],
    dataFlow: ['read'],
    integration: ['read'],
    rule: ['read'],
  },
  all: everyPermission,
};

/** The permissions with one verb of a scope added or taken away. */
function withVerb(permissions: Permissions, scope: Scope, verb: Verb): Permissions {
  const before = permissions[scope] ?? [];
  const after = verbsOfScope[scope].filter((one) =>
    one === verb ? !before.includes(verb) : before.includes(one),
  );
  const { [scope]: _changed, ...rest } = permissions;
  return after.length === 0 ? rest : { ...rest, [scope]: after };
}

/** Verbs with the scopes that they are granted on, such as `read` -> `asset, rule`. */
function grantedByVerb(permissions: Permissions): ReadonlyMap<Verb, readonly Scope[]> {
  const granted = new Map<Verb, Scope[]>();
  for (const scope of scopes)
    for (const verb of permissions[scope] ?? [])
      granted.set(verb, [...(granted.get(verb) ?? []), scope]);
  return granted;
}

/** Who gets the permissions; the sentence about them names it. */
type Grantee = 'key' | 'client';

export interface Grant {
  readonly allWorkspaces: boolean;
  readonly workspaceIds: readonly string[];
  readonly permissions: Permissions;
}

export const firstGrant: Grant = {
  allWorkspaces: true,
  workspaceIds: [],
  permissions: presets.read,
};

/** The members of a body that grant. */
export function grantBody({ allWorkspaces, workspaceIds, permissions }: Grant) {
  return {
    allWorkspaces,
    workspaces: allWorkspaces ? [] : workspaceIds.map((id) => ({ id })),
    permissions: Object.fromEntries(
      Object.entries(permissions).map(([scope, verbs]) => [scope, [...verbs]]),
    ),
  };
}
