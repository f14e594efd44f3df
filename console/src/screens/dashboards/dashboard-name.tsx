// Dashboard name: the field of its name in every dialog that asks for it.
import { TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { dashboardsWords } from './dashboards-words.ts';

interface DashboardNameProps {
  readonly value: string;
  readonly change: (name: string) => void;
}

export function DashboardName({ value, change }: DashboardNameProps) {
  const words = useWords(dashboardsWords);
  return (
    <TextField
      label={words.name}
      required
      maxLength={200}
      value={value}
      onChange={({ target }) => change(target.value)}
    />
  );
}
