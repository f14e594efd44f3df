// Second factor demand: whether members of the organization must have a second factor, and the switch for it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { Card } from '../../../parts/card.tsx';
import { CheckField } from '../../../parts/check-field.tsx';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { Answered, Bone } from '../../../parts/states.tsx';
import { toast, toastFailure } from '../../../parts/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import { memberFactorWords } from './member-factor-words.ts';
import { useAction } from '../../../parts/use-action.ts';

interface SecondFactorDemandProps {
  readonly organizationId: string;
  readonly mayChange: boolean;
}

export function SecondFactorDemand({ organizationId, mayChange }: SecondFactorDemandProps) {
  const words = useWords(memberFactorWords);
  const params = { path: { id: organizationId } };
  const demand = useQuery({
    queryKey: keyOf(organizationId),
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/organizations/{id}/second-factor', { signal, params })),
  });
  const path = `/v3/organizations/${organizationId}/second-factor`;
  return (
    <Card title={words.title} isPadded>
      <Answered answer={demand} curl={{ path }} skeleton={<Bone />}>
        {({ secondFactorRequired: isOn }) =>
          mayChange ? (
            <Switch organizationId={organizationId} isOn={isOn} />
          ) : (
            <p>{isOn ? words.on : words.off}</p>
          )
        }
      </Answered>
    </Card>
  );
}

const keyOf = (organizationId: string) => ['second-factor-demand', organizationId] as const;

interface SwitchProps {
  readonly organizationId: string;
  readonly isOn: boolean;
}

function Switch({ organizationId, isOn }: SwitchProps) {
  const words = useWords(memberFactorWords);
  const known = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const change = useAction({
    mutationFn: (secondFactorRequired: boolean) =>
      ask(
        platform.PUT('/v3/organizations/{id}/second-factor', {
          params: { path: { id: organizationId } },
          body: { secondFactorRequired },
        }),
      ),
    onSuccess: (answer) => {
      known.setQueryData(keyOf(organizationId), answer);
      setAsking(false);
      toast(answer.secondFactorRequired ? words.demanded : words.released);
    },
  });
  const turn = (wanted: boolean) => {
    change.reset();
    if (wanted) setAsking(true);
    else change.mutate(false, { onError: toastFailure });
  };
  return (
    <>
      <CheckField label={words.required} hint={words.hint} isOn={isOn} change={turn} />
      {isAsking && (
        <ConfirmDialog
          title={words.demandTitle}
          note={words.demandNote}
          confirmLabel={words.demand}
          cancelLabel={words.cancel}
          isBusy={change.isPending}
          error={change.error}
          confirm={() => change.mutate(true)}
          close={() => setAsking(false)}
        />
      )}
    </>
  );
}
