"""What clawmem is measured against: a Typer program with one command that prints a line."""

import typer

app = typer.Typer()


@app.command()
def main(name: str = "world") -> None:
    """Print a line."""
    print(f"hello {name}")


app()
