from hinge.cli import main

main()
