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
import type { Dashboard } from '../dashboard-requests.ts';
import { shareWords } from '../dashboards-words.ts';
import styles from './share.module.css';

const dayMs = 86_400_000;
const spans = { day: dayMs, week: 7 * dayMs, month: 30 * dayMs, always: undefined } as const;
const spanNames = ['day', 'week', 'month', 'always'] as const;
type SpanName = (typeof spanNames)[number];

interface ShareDialogProps {
  readonly dashboard: Pick<Dashboard, 'id' | 'name'>;
  readonly close: () => void;
}

export function ShareDialog({ dashboard: { id, name }, close }: ShareDialogProps) {
  const words = useWords(shareWords);
  const client = useQueryClient();
  const [url, setUrl] = useState<string>();
  const [span, setSpan] = useState<SpanName>('month');
  const params = { path: { id } };
  const share = useAction({
    mutationFn: () => {
      const ms = spans[span];
      const body = { expires: ms === undefined ? null : new Date(Date.now() + ms).toISOString() };
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
      <ValidLinks id={id} afterRevoke={() => setUrl(undefined)} />
    </Dialog>
  );
}

/** Without a configured address the platform names itself localhost, where others do not find it. */
function reachable(url: string): string {
  const { hostname, pathname, hash } = new URL(url);
  return hostname === 'localhost' ? `${location.origin}${pathname}${hash}` : url;
}

interface ValidLinksProps {
  readonly id: string;
  readonly afterRevoke: () => void;
}

function ValidLinks({ id, afterRevoke }: ValidLinksProps) {
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
              {valid.map(({ created, expires }) => (
                <li key={`${created} ${expires ?? ''}`}>
                  {words.since} {formats.instant(created)}
                  <span className="mute">
                    {' · '}
                    {words.until} {expires === null ? words.always : formats.instant(expires)}
                  </span>
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
