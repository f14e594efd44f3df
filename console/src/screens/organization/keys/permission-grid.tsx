// Permission grid: one box for each scope and verb that go together, and the whole as a sentence.
import {
  type Permissions,
  type Scope,
  scopes,
  type Verb,
  verbs,
  verbsOfScope,
} from '../../../../../src/model/permission.ts';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import type { Grantee } from './grant.ts';
import { grantedByVerb, toggled } from './key-permissions.ts';
import styles from './permission-grid.module.css';

interface PermissionGridProps {
  readonly permissions: Permissions;
  readonly change: (permissions: Permissions) => void;
}

export function PermissionGrid({ permissions, change }: PermissionGridProps) {
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
                  <GrantBox {...{ scope, verb, permissions, change }} />
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
      onChange={() => change(toggled(permissions, scope, verb))}
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
    <p className={styles['sentence']} aria-live="polite">
      {said.length === 0 ? may.nothing : may.do(said.join('; '))}
    </p>
  );
}
