// Share dialog: makes a link that reads the dashboard, shows it once, and revokes all of them.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { ConfirmDialog, Dialog } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Answered, Bone } from '../../../ui/states.tsx';
import { toast, toastFailure } from '../../../ui/toasts.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { useDevicesById } from '../../../api/workspace-records.ts';
import type { Dashboard } from '../dashboard-requests.ts';
import { shareWords } from '../dashboards-words.ts';
import type { ShownVariables } from '../variable-values.ts';
import styles from './share.module.css';

const dayMs = 86_400_000;
const spans = { day: dayMs, week: 7 * dayMs, month: 30 * dayMs, always: undefined } as const;
const spanNames = ['day', 'week', 'month', 'always'] as const;
type SpanName = (typeof spanNames)[number];

interface ShareDialogProps {
  readonly dashboard: Dashboard;
  /** With the values that are chosen now, which the link fixes. */
  readonly variables: ShownVariables;
  readonly close: () => void;
}

export function ShareDialog({ dashboard, variables, close }: ShareDialogProps) {
  const { id, name } = dashboard;
  const words = useWords(shareWords);
  const client = useQueryClient();
  const [url, setUrl] = useState<string>();
  const [span, setSpan] = useState<SpanName>('month');
  const isFixing = variables.variables.length > 0;
  const params = { path: { id } };
  const share = useAction({
    mutationFn: () => {
      const ms = spans[span];
      const expires = ms === undefined ? null : new Date(Date.now() + ms).toISOString();
      const body = { expires, ...(isFixing && { variables: valuesOf(variables) }) };
      return ask(platform.POST('/v3/dashboards/{id}/share', { params, body }));
    },
    onSuccess(made) {
      setUrl(reachable(made.url));
      void client.invalidateQueries({ queryKey: ['shares', id] });
    },
    onError: toastFailure,
  });
  return (
    <Dialog
      title={words.title(name)}
      close={close}
      footer={
        <Button look="primary" disabled={share.isPending} onClick={() => share.mutate()}>
          <Link2 aria-hidden="true" />
          {words.make}
        </Button>
      }
    >
      <p className="mute">{words.what}</p>
      {isFixing && (
        <div>
          <p>{words.fixes}</p>
          <p className="mute">
            <Values
              variables={variables}
              values={valuesOf(variables)}
              workspaceId={dashboard.workspaceId}
            />
          </p>
        </div>
      )}
      <SelectField
        label={words.expires}
        value={span}
        onChange={({ target }) => setSpan(spanNames.find((one) => one === target.value) ?? span)}
      >
        {spanNames.map((one) => (
          <option key={one} value={one}>
            {words.spans[one]}
          </option>
        ))}
      </SelectField>
      {url !== undefined && (
        <div className={styles['made']} role="status">
          <p>{words.made}</p>
          <div className={styles['link']}>
            <TextField
              label={words.link}
              readOnly
              value={url}
              onFocus={({ target }) => target.select()}
            />
            <CopyButton content={url}>{words.copy}</CopyButton>
          </div>
        </div>
      )}
      <ValidLinks
        dashboard={dashboard}
        variables={variables}
        afterRevoke={() => setUrl(undefined)}
      />
    </Dialog>
  );
}

type NamedValues = Readonly<Record<string, readonly string[]>>;

/** Those of the variables that the dashboard declares and that have a value. */
function valuesOf({ variables, values }: ShownVariables): Record<string, string[]> {
  return Object.fromEntries(
    variables.flatMap(({ name }) => {
      const chosen = values.get(name);
      return chosen === undefined ? [] : [[name, [...chosen]] as const];
    }),
  );
}

interface ValuesProps {
  readonly workspaceId: string;
  readonly variables: ShownVariables;
  readonly values: NamedValues;
}

/** Such as `Device: Attic · Room: Kitchen, Hall`. */
function Values({ workspaceId, variables: { variables, nameOf }, values }: ValuesProps) {
  const ids = variables.flatMap(({ kind, name }) =>
    kind === 'DEVICE' ? (values[name] ?? []) : [],
  );
  const devices = useDevicesById(workspaceId, ids);
  return variables
    .flatMap((variable) => {
      const names = values[variable.name]?.map(
        (value) => devices.get(value)?.name ?? nameOf(variable, value),
      );
      return names === undefined ? [] : [`${variable.label ?? variable.name}: ${names.join(', ')}`];
    })
    .join(' · ');
}

/** Without a configured address the platform names itself localhost, where others do not find it. */
function reachable(url: string): string {
  const { hostname, pathname, search, hash } = new URL(url);
  return hostname === 'localhost' ? `${location.origin}${pathname}${search}${hash}` : url;
}

interface ValidLinksProps {
  readonly dashboard: Dashboard;
  readonly variables: ShownVariables;
  readonly afterRevoke: () => void;
}

function ValidLinks({ dashboard, variables, afterRevoke }: ValidLinksProps) {
  const { id, workspaceId } = dashboard;
  const words = useWords(shareWords);
  const formats = useFormats();
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const params = { path: { id } };
  const shares = useQuery({
    queryKey: ['shares', id],
    queryFn: ({ signal }) => ask(platform.GET('/v3/dashboards/{id}/share', { signal, params })),
  });
  const count = shares.data?.shares.length ?? 0;
  const revoke = useAction({
    mutationFn: () => ask(platform.DELETE('/v3/dashboards/{id}/share', { params })),
    onSuccess() {
      toast(words.revoked(count));
      afterRevoke();
    },
    onError: toastFailure,
    onSettled() {
      setAsked(false);
      return client.invalidateQueries({ queryKey: ['shares', id] });
    },
  });
  return (
    <section className={`stack gap-8 ${styles['valid']}`} aria-label={words.valid}>
      <h3>{words.valid}</h3>
      <Answered
        answer={shares}
        curl={{ path: `/v3/dashboards/${id}/share` }}
        skeleton={<Bone width="12em" />}
      >
        {({ shares: valid }) =>
          valid.length === 0 ? (
            <p className="mute">{words.none}</p>
          ) : (
            <ul>
              {valid.map(({ id: linkId, created, expires, lastUsed, variables: fixed }) => (
                <li key={linkId}>
                  {words.since} {formats.instant(created)}
                  <span className="mute">
                    {' · '}
                    {words.until} {expires === null ? words.always : formats.instant(expires)}
                    {' · '}
                    {lastUsed === null ? words.unused : words.used(formats.instant(lastUsed))}
                  </span>
                  {fixed !== undefined && Object.keys(fixed).length > 0 && (
                    <div className="mute">
                      <Values workspaceId={workspaceId} variables={variables} values={fixed} />
                    </div>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
      {count > 0 && (
        <div>
          <Button look="danger" onClick={() => setAsked(true)}>
            {words.revoke}
          </Button>
        </div>
      )}
      {isAsked && (
        <ConfirmDialog
          title={words.confirm}
          note={words.confirmNote}
          confirmLabel={words.revoke}
          cancelLabel={words.cancel}
          isBusy={revoke.isPending}
          confirm={() => revoke.mutate()}
          close={() => setAsked(false)}
        />
      )}
    </section>
  );
}
