import { memo, type FC } from 'react'

interface Props {
  id: string
}

export const Badge = (p: { n: number }) => <b className="x">{p.n} é</b>;

/** One row. */
export function Row(props: Props) {
  const onClick = () => props.id
  return <div onClick={onClick}>{props.id}</div>
}

const Table: FC<Props> = memo(function Table({ id }) {
  return (
    <>
      <Row id={id} />
    </>
  )
})

export default function App(): JSX.Element {
  return <Table id="1" />
}
