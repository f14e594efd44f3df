// Template field: an editor with a preview, filled in with the last sample of a device.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask, platform } from '../../api/platform.ts';
import { useSettledValue } from '../../ui/use-settled-value.ts';
import { TextArea, TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { formWords } from './form-words.ts';
import type { TemplatePlace } from './output-types.ts';
import styles from './outputs.module.css';

/** Whose last sample fills the templates in. */
export interface Sample {
  readonly workspaceId: string;
  readonly deviceId: string | undefined;
}

interface TemplateFieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly value: string;
  readonly place: TemplatePlace;
  readonly sample: Sample;
  readonly isLong?: boolean;
  readonly change: (value: string) => void;
}

export function TemplateField(props: TemplateFieldProps) {
  const { label, hint, error, value, place, sample, isLong = false, change } = props;
  const Field = isLong ? TextArea : TextField;
  return (
    <div className={isLong ? styles['template'] : undefined}>
      <Field
        label={label}
        {...(hint === undefined ? {} : { hint })}
        error={error}
        value={value}
        spellCheck={false}
        onChange={(event: { readonly currentTarget: { readonly value: string } }) =>
          change(event.currentTarget.value)
        }
      />
      <Preview template={value} place={place} sample={sample} />
    </div>
  );
}

interface PreviewProps {
  readonly template: string;
  readonly place: TemplatePlace;
  readonly sample: Sample;
}

/** Nothing for a template without expressions. */
function Preview({ template, place, sample: { workspaceId, deviceId } }: PreviewProps) {
  const words = useWords(formWords);
  const settled = useSettledValue(template);
  const isTemplate = /\{\{.*?\}\}/s.test(settled) && isClosed(settled);
  const preview = useQuery({
    queryKey: ['template preview', workspaceId, deviceId, place, settled],
    enabled: isTemplate && deviceId !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) => {
      const rule = { id: 'rule', ruleId: 'rule', name: words.preview, description: null };
      const body = { workspaceId, template: settled, place, deviceId: deviceId ?? '' };
      return ask(
        platform.POST('/v3/templates/preview', {
          signal,
          // Actions of rules use the rule too, which the last sample does not have.
          body: { ...body, context: { rule: { ...rule, workspaceId } } as never },
        }),
      );
    },
  });
  if (!isTemplate || deviceId === undefined) return null;
  const shown = preview.error?.message ?? preview.data?.reason ?? preview.data?.text;
  if (shown === undefined) return null;
  const isBroken = preview.error !== null || preview.data?.valid === false;
  return (
    <output className={styles['preview']} data-broken={isBroken} aria-label={words.preview}>
      {shown}
    </output>
  );
}

/** While an expression is being typed there is nothing to fill in. */
function isClosed(template: string): boolean {
  return !/\{\{(?:(?!\}\}).)*$/s.test(template);
}
